import { expect } from 'vitest';
import { turns } from './turns.ts';

/**
 * Waits until many counts, some turns of the event loop apart, are equal: the work in this process that made it grow has
 * ended, or is held back.
 */
export async function untilStill(count: () => number): Promise<void> {
  let before = Number.NaN;
  let equalInRow = 0;
  const countEqual = async () => {
    await turns(20);
    const now = count();
    equalInRow = now === before ? equalInRow + 1 : 0;
    before = now;
    return equalInRow;
  };
  await expect.poll(countEqual, { interval: 1 }).toBe(20);
}
