import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextAttemptAt } from './retry-schedule.ts';

const hour = 3_600_000;
const now = 1_700_000_000_000;
/** The schedule of docs/reference/api.md, Delivery, in seconds after the first attempt. */
const offsets = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

function attemptsWith(random: () => number): number[] {
  const times = [now];
  for (;;) {
    const last = times.at(-1) ?? now;
    const next = nextAttemptAt({ attemptsMade: times.length, now: last, random: random(), retryAfter: undefined });
    if (next === undefined) return times;
    times.push(next);
  }
}

describe('the schedule of a delivery', () => {
  it('has attempts at 0, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h after the first', () => {
    expect(attemptsWith(() => 0.5).map((time) => (time - now) / 1000)).toEqual(offsets);
  });

  // guarantee: W4
  it('has a jitter of 20 percent of each step', () => {
    expect(attemptsWith(() => 0)[1]).toBe(now + 4_000);
    expect(attemptsWith(() => 1)[1]).toBe(now + 6_000);
    const jitters = fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true }));
    fc.assert(
      fc.property(jitters, (stream) => {
        const times = attemptsWith(() => stream.next().value ?? 0.5);
        expect(times).toHaveLength(10);
        for (const [index, time] of times.entries()) {
          const nominal = (offsets[index] ?? 0) * 1000;
          expect(Math.abs(time - now - nominal)).toBeLessThanOrEqual(0.2 * nominal + index);
        }
      }),
    );
  });

  it('continues from the last attempt, so that a pause uses up none', () => {
    const late = now + 7 * hour;
    expect(nextAttemptAt({ attemptsMade: 2, now: late, random: 0.5, retryAfter: undefined })).toBe(late + 295_000);
  });

  it('waits as long as the receiver asks, a day at most, and never shorter than planned', () => {
    const next = (retryAfter: number) => nextAttemptAt({ attemptsMade: 1, now, random: 0.5, retryAfter });
    expect(next(now + hour)).toBe(now + hour);
    expect(next(now + 1000)).toBe(now + 5000);
    expect(next(now + 24 * hour)).toBe(now + 24 * hour);
    expect(next(now + 24 * hour + 1)).toBe(now + 24 * hour);
    expect(next(Number.MAX_SAFE_INTEGER)).toBe(now + 24 * hour);
  });

  it('ends after the tenth attempt, whatever the receiver asks', () => {
    expect(nextAttemptAt({ attemptsMade: 9, now, random: 0.5, retryAfter: undefined })).toBe(now + 4 * hour);
    expect(nextAttemptAt({ attemptsMade: 10, now, random: 0.5, retryAfter: now + 1000 })).toBeUndefined();
  });
});
