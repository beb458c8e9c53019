import { findLeast } from './time-limits.ts';

/**
 * The longest time for which the main thread of this process works without a pause. If it reaches `limitMs`, the work
 * is repeated, and the shortest result counts: see `findLeast`. Units: milliseconds.
 */
export function longestWork(during: (attempt: number) => Promise<unknown>, limitMs: number): Promise<number> {
  return findLeast(limitMs, (attempt) => longestOnce(() => during(attempt)));
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
