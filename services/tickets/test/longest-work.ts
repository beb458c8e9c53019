/** The longest time for which the main thread of this process works without a pause. Units: milliseconds. */
export async function longestWork(during: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = process.threadCpuUsage();
  // The processor's time and not the clock's: other tests may use the processor meanwhile.
  const tick = () => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    before = process.threadCpuUsage();
  };
  const timer = setInterval(tick, 1);
  await during();
  clearInterval(timer);
  tick();
  return longest;
}
