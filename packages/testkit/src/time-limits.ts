const attempts = 5;

/**
 * Calls `work`, and fails if it takes this thread `limitMs` of processor time or longer. Returns what the last call returned.
 * The least of five calls counts, if the first ones are too long: see `findLeast`.
 */
export async function withinCpuTime<Result>(limitMs: number, work: () => Result): Promise<Awaited<Result>> {
  let result!: Awaited<Result>;
  const leastMs = await findLeast(limitMs, () =>
    measureCpuMs(async () => {
      result = await work();
    }),
  );
  if (leastMs >= limitMs) throw new Error(`takes ${leastMs} ms of processor time; the limit is ${limitMs} ms`);
  return result;
}

/**
 * Fails if the processor time of `work` grows as the square of the length of its text, which is `unit` repeated (16 times for
 * 4 times the length), and not because a machine is slow.
 */
export async function withinLinearTime(unit: string, work: (text: string) => unknown): Promise<void> {
  const ofLength = (length: number) => {
    const text = unit.repeat(length / unit.length);
    return () => work(text);
  };
  const leastMs = await findLeast(0, () => measureCpuMs(ofLength(25_600)));
  await withinCpuTime(Math.max(10 * leastMs, 250), ofLength(102_400));
}

/**
 * Measures until a result is below the limit, at most five times. Returns the least: the code itself takes its time in
 * each measurement, but garbage of other tests may be collected meanwhile, or the machine be busy.
 */
export async function findLeast(limit: number, measure: (attempt: number) => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && least >= limit; attempt++) {
    least = Math.min(least, await measure(attempt));
  }
  return least;
}

async function measureCpuMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
