import { turns } from '@ticketing/testkit/turns.ts';
import { expect, test } from 'vitest';
import { startWakefulLoop, type WorkFound } from './wakeful-loop.ts';

test('runs when it is woken, and again at once while there is more work', async () => {
  let runs = 0;
  let left = 0;
  const loop = startWakefulLoop({
    pollMs: { busy: 60_000, idle: 60_000 },
    onError: () => 0,
    run: async () => {
      runs += 1;
      left = Math.max(0, left - 1);
      return left > 0 ? 'more' : 'done';
    },
  });
  await expect.poll(() => runs).toBe(1);
  left = 3;
  loop.wake();
  await expect.poll(() => runs).toBe(4);
  await turns(20);
  expect(runs).toBe(4);
  await loop.stop();
});

test('a wake in the middle of a run is not missed', async () => {
  let runs = 0;
  const loop = startWakefulLoop({
    pollMs: { busy: 60_000, idle: 60_000 },
    onError: () => 0,
    run: async () => {
      runs += 1;
      if (runs === 1) loop.wake();
      return 'done';
    },
  });
  await expect.poll(() => runs).toBe(2);
  await loop.stop();
});

test('runs without a wake too, and after a failure once the pause that onError returns is over', async () => {
  const failures: number[] = [];
  let runs = 0;
  const loop = startWakefulLoop({
    pollMs: { busy: 5, idle: 5 },
    onError: (_, count) => {
      failures.push(count);
      return 5;
    },
    run: async () => {
      runs += 1;
      if (runs < 4) throw new Error('not yet');
      return 'done';
    },
  });
  await expect.poll(() => runs).toBeGreaterThan(6);
  expect(failures).toEqual([0, 1, 2]);
  await loop.stop();
});

test('a stop waits for the current run; before the first run it is immediate', async () => {
  const finish = Promise.withResolvers<WorkFound>();
  let hasEnded = false;
  const loop = startWakefulLoop({ pollMs: { busy: 5, idle: 5 }, onError: () => 0, run: () => finish.promise });
  const stopped = loop.stop().then(() => {
    hasEnded = true;
  });
  await turns(20);
  expect(hasEnded).toBe(false);
  finish.reject(new Error('broken off'));
  await stopped;
  await startWakefulLoop({
    pollMs: { busy: 5, idle: 5 },
    onError: () => 0,
    run: async () => 'nothing',
    after: new Promise(() => undefined),
  }).stop();
});
