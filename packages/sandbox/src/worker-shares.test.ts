import { expect, test } from 'vitest';
import { maxSuspects, suspectMs, workerShares } from './worker-shares.ts';

const longRunBytes = 100;
const of = (caller: string, bytes = longRunBytes) => ({ caller, bytes });

test('a caller has all workers but one, and the only one if there are no more', () => {
  for (const [maxWorkers, share] of [
    [1, 1],
    [2, 1],
    [3, 2],
  ] as const) {
    const shares = workerShares({ maxWorkers, longRunBytes });
    for (let nth = 0; nth < share; nth++) {
      expect(shares.isFree(of('a'))).toBe(true);
      shares.take(of('a'));
    }
    expect(shares.isFree(of('a'))).toBe(false);
    expect(shares.isFree(of('b'))).toBe(maxWorkers > 1);
    if (maxWorkers === 1) continue;
    shares.take(of('b'));
    expect(shares.isFree(of('c'))).toBe(false);
  }
});

test('long runs of all callers have all workers but one; a run of exactly the limit is not long', () => {
  const shares = workerShares({ maxWorkers: 2, longRunBytes });
  const release = shares.take(of('a', longRunBytes + 1));
  expect(shares.isFree(of('b', longRunBytes + 1))).toBe(false);
  expect(shares.isFree(of('b', longRunBytes))).toBe(true);
  release();
  expect(shares.isFree(of('b', longRunBytes + 1))).toBe(true);
});

test('equal runs of one caller count one by one', () => {
  const shares = workerShares({ maxWorkers: 3, longRunBytes });
  const releases = [shares.take(of('a')), shares.take(of('a'))];
  releases[0]?.();
  expect(shares.isFree(of('a'))).toBe(true);
  shares.take(of('a'));
  expect(shares.isFree(of('a'))).toBe(false);
});

test('callers whose runs were stopped leave a worker to all others, together and for a while', () => {
  let nowMs = 0;
  const shares = workerShares({ maxWorkers: 3, longRunBytes }, () => nowMs);
  const releases = ['a', 'b', 'c'].map((caller) => shares.take(of(caller)));
  for (const caller of ['a', 'b', 'c']) shares.suspect(caller);
  for (const release of releases) release();
  const release = shares.take(of('a'));
  shares.take(of('b'));
  expect(shares.isFree(of('c'))).toBe(false);
  expect(shares.isFree(of('d'))).toBe(true);
  shares.take(of('d'))();
  nowMs = suspectMs - 1;
  expect(shares.isFree(of('c'))).toBe(false);
  nowMs = suspectMs;
  expect(shares.isFree(of('c'))).toBe(true);
  release();
});

test('a single worker is for everyone', () => {
  const shares = workerShares({ maxWorkers: 1, longRunBytes });
  shares.suspect('a');
  expect(shares.isFree(of('a'))).toBe(true);
});

test('the callers that are remembered are limited in number', () => {
  const shares = workerShares({ maxWorkers: 2, longRunBytes });
  for (let nth = 0; nth <= maxSuspects; nth++) shares.suspect(`${nth}`);
  shares.take(of(`${maxSuspects}`));
  expect(shares.isFree(of('1'))).toBe(false);
  expect(shares.isFree(of('0'))).toBe(true);
});
