import { expect } from 'vitest';

/** Waits until a count does not change for a while: what made it grow has stopped, or is held back. */
export async function untilStill(count: () => number): Promise<void> {
  let before = Number.NaN;
  const isStill = () => {
    const last = before;
    before = count();
    return before === last;
  };
  await expect.poll(isStill, { interval: 200 }).toBe(true);
}
