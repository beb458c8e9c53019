import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The time that some work takes by the clock, in ms. */
export async function measureMs(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** The processor time of this thread that some work takes, in ms. */
export async function measureCpuMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** The longest time for which the main thread of this process works without a pause, while some work is done, in ms. */
export async function measureLongestWork(work: () => unknown): Promise<number> {
  let longest = 0;
  let before = process.threadCpuUsage();
  // The processor's time and not the clock's: other processes may use the processor meanwhile.
  const tick = () => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    before = process.threadCpuUsage();
  };
  const timer = setInterval(tick, 1);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  tick();
  return longest;
}

/** By how many bytes the memory of this process outside of the heap grows, at most, while some work is done. */
export async function measureBytes(work: () => unknown): Promise<number> {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const before = process.memoryUsage().arrayBuffers;
  let most = before;
  const look = () => {
    most = Math.max(most, process.memoryUsage().arrayBuffers);
  };
  const timer = setInterval(look, 1);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  look();
  return most - before;
}
