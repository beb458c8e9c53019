import { createLogger } from '@ticketing/runtime/logger.ts';
import { turns } from '@ticketing/testkit/turns.ts';
import { expect, test, vi } from 'vitest';
import { startSchedule } from './schedule.ts';

const log = createLogger('test', 'silent');
const alwaysReady = { isReady: () => true, onChange: () => () => undefined };

test('repeats each task, even if it fails, and even if another task is stuck', async () => {
  const stuck = Promise.withResolvers<void>();
  let failing = 0;
  let working = 0;
  const schedule = startSchedule(
    [
      { name: 'stuck', everyMs: 1, run: () => stuck.promise },
      { name: 'failing', everyMs: 1, run: () => Promise.reject(new Error(String(failing++))) },
      {
        name: 'working',
        everyMs: 1,
        run: async () => {
          working += 1;
        },
      },
    ],
    alwaysReady,
    log,
  );
  await vi.waitFor(() => expect(Math.min(failing, working)).toBeGreaterThan(3), { timeout: 30_000 });
  stuck.resolve();
  await schedule.stop();
});

test('repeats a task that has left work before its interval is over', async () => {
  let runs = 0;
  const run = async () => (++runs < 3 ? 'more' : 'nothing');
  const schedule = startSchedule([{ name: 'large', everyMs: 600_000, run }], alwaysReady, log);
  await vi.waitFor(() => expect(runs).toBe(3), { timeout: 30_000 });
  await schedule.stop();
});

test('stops at once between runs, and waits for a run that is in progress', async () => {
  const ended: string[] = [];
  const slow = async () => {
    await turns(20);
    ended.push('slow');
  };
  const schedule = startSchedule(
    [
      { name: 'slow', everyMs: 60_000, run: slow },
      {
        name: 'quick',
        everyMs: 60_000,
        run: async () => {
          ended.push('quick');
        },
      },
    ],
    alwaysReady,
    log,
  );
  await schedule.stop();
  expect(ended).toEqual(['quick', 'slow']);
  await turns(20);
  expect(ended).toEqual(['quick', 'slow']);
});

test('runs nothing until the service is ready, then begins at once, and can be stopped while it waits', async () => {
  let runs = 0;
  let isReady = false;
  const listeners = new Set<() => void>();
  const onChange = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const run = async () => {
    runs += 1;
    isReady = false;
  };
  const schedule = startSchedule([{ name: 'count', everyMs: 1, run }], { isReady: () => isReady, onChange }, log);
  const passTime = async () => {
    let marks = 0;
    const run = async () => void marks++;
    const other = startSchedule([{ name: 'marker', everyMs: 1, run }], alwaysReady, log);
    await expect.poll(() => marks).toBeGreaterThan(5);
    await other.stop();
  };
  await passTime();
  expect(runs).toBe(0);
  isReady = true;
  for (const listener of listeners) listener();
  await expect.poll(() => runs).toBe(1);
  await passTime();
  expect(runs).toBe(1);
  await schedule.stop();
  expect(listeners.size).toBe(0);
});
