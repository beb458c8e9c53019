/**
 * Limits of time and memory. Only the part "timed" of the acceptance run measures, and prints each figure. In every other run the
 * functions of this file do the work once, so that tests say whether its result is right, on any machine.
 */
import { expect } from 'vitest';
import { measureBytes, measureCpuMs, measureLongestWork, measureMs } from './measure.ts';

const isTimed = process.env.TICKETING_TEST_EFFORT === 'timed';
const attempts = 5;

/** Does `work`, and fails if it takes this thread `limitMs` of processor time or longer. Returns what it returned. */
export function withinCpuTime<Result>(limitMs: number, work: () => Result): Promise<Awaited<Result>> {
  return within('ms of processor time', limitMs, work, measureCpuMs);
}

/**
 * Does `work`, and fails if it takes `limitMs` by the clock, or longer. Returns what it returned. `prepare` makes the input of
 * each attempt, and is not measured.
 */
export function withinTime<Result, Input = undefined>(
  limitMs: number,
  work: (input: Awaited<Input>) => Result,
  prepare?: () => Input,
): Promise<Awaited<Result>> {
  return within('ms', limitMs, work, measureMs, prepare);
}

/**
 * Does `work`, and fails if the main thread of this process meanwhile works for `limitMs` or longer without a pause. Returns
 * what it returned.
 */
export function withoutBlocking<Result>(limitMs: number, work: () => Result): Promise<Awaited<Result>> {
  return within('ms without a pause', limitMs, work, measureLongestWork);
}

/**
 * Does `work`, and fails if the memory of this process for bytes outside of the heap grows by `limitBytes` or more meanwhile.
 * Returns what it returned.
 */
export function withinBytes<Result>(limitBytes: number, work: () => Result): Promise<Awaited<Result>> {
  return within('bytes', limitBytes, work, measureBytes);
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
  const leastMs = isTimed ? await findLeast('ms of processor time', 0, () => measureCpuMs(ofLength(25_600))) : 0;
  await withinCpuTime(Math.max(10 * leastMs, 250), ofLength(102_400));
}

/**
 * Measures until a result is below the limit, at most five times, prints the results, and returns the least: the code itself
 * takes its time in each measurement, but garbage may be collected meanwhile, or the machine be busy.
 */
export async function findLeast(
  unit: string,
  limit: number,
  measure: (attempt: number) => Promise<number>,
): Promise<number> {
  const results: number[] = [];
  while (results.length < attempts && Math.min(...results) >= limit) results.push(await measure(results.length));
  const figures = results.map((result) => result.toFixed(1)).join(', ');
  process.stdout.write(`${expect.getState().currentTestName}: ${figures} ${unit}, limit ${limit}\n`);
  return Math.min(...results);
}

async function within<Result, Input = undefined>(
  unit: string,
  limit: number,
  work: (input: Awaited<Input>) => Result,
  measure: (work: () => unknown) => Promise<number>,
  prepare?: () => Input,
): Promise<Awaited<Result>> {
  const makeInput = async () => (await prepare?.()) as Awaited<Input>;
  if (!isTimed) return await work(await makeInput());
  let result!: Awaited<Result>;
  const least = await findLeast(unit, limit, async () => {
    const input = await makeInput();
    return measure(async () => {
      result = await work(input);
    });
  });
  if (least >= limit) throw new Error(`takes ${least} ${unit}; the limit is ${limit}`);
  return result;
}
