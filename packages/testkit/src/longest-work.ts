const repetitions = 3;

/**
 * The longest time for which the main thread of this process works without a pause. If it reaches `limitMs`, the work is
 * repeated, and the least of three times counts: a collection of garbage, which is that of all tests in this process, can fall
 * into it by chance, but what the code itself does takes as long each time. Units: milliseconds.
 */
export async function longestWork(during: (repetition: number) => Promise<unknown>, limitMs: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let repetition = 0; repetition < repetitions && least >= limitMs; repetition++) {
    least = Math.min(least, await longestOnce(() => during(repetition)));
  }
  return least;
}

async function longestOnce(during: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = process.threadCpuUsage();
  // The processor's time and not the clock's: other tests may use the processor meanwhile.
  const tick = () => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    before = process.threadCpuUsage();
  };
  const timer = setInterval(tick, 1);
  try {
    await during();
  } finally {
    clearInterval(timer);
  }
  tick();
  return longest;
}
