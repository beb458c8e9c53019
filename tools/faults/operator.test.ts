import { skipWaits } from '@ticketing/testkit/skip-waits.ts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { JsonObject } from '../import/json.ts';
import type { Caller } from './caller.ts';
import type { Endpoint } from './endpoints.ts';
import { openOperator } from './operator.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const endpoint = { id: 1, name: 'all' } as Endpoint;
const delivery = (id: string, secondsAhead: number): JsonObject => ({
  id,
  nextAttemptAt: new Date(Date.now() + secondsAhead * 1000).toISOString(),
});

/** A system whose lists of deliveries are those of `pages`, one after the other; the last one is repeated. */
function readCaller(pages: { retrying: JsonObject[]; scheduled: JsonObject[] }[]) {
  const redelivered: string[] = [];
  let lists = 0;
  const caller: Caller = {
    async request(_method, path) {
      const id = /delivery\/(\w+)\/redeliver$/.exec(path)?.[1];
      if (id !== undefined) {
        redelivered.push(id);
        return {};
      }
      const status = path.includes('status=retrying') ? 'retrying' : 'scheduled';
      const page = pages[Math.min(Math.floor(lists++ / 2), pages.length - 1)];
      return { deliveries: page?.[status] ?? [] };
    },
    close: () => undefined,
  };
  return { caller, redelivered };
}

test('sends again what is due later, and what is due but not attempted', async () => {
  const retrying = [delivery('later', 290), delivery('soon', 1), delivery('now', -1), delivery('paused', -60)];
  const { caller, redelivered } = readCaller([{ retrying, scheduled: [] }]);
  const operator = openOperator(caller);
  await operator.redeliverSome(endpoint);
  expect(redelivered).toEqual(['later', 'paused']);
  await operator.redeliverSome(endpoint);
  expect(operator.redelivered()).toBe(2);
});

test('goes on until nothing is retried or scheduled, and prints what is left', async () => {
  const waits = skipWaits();
  const { caller, redelivered } = readCaller([
    { retrying: [delivery('first', 290)], scheduled: [delivery('second', 290)] },
    { retrying: [], scheduled: [delivery('second', 0)] },
    { retrying: [], scheduled: [] },
  ]);
  const lines: string[] = [];
  await openOperator(caller).deliverRest([endpoint], (line) => lines.push(line));
  expect(redelivered).toEqual(['first']);
  expect(lines).toEqual(['2 deliveries are not made yet']);
  expect(waits).toEqual([500, 500]);
});
