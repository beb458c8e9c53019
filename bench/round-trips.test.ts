import { expect, test } from 'vitest';
import { countRoundTrips, readCounts } from './round-trips.ts';

test('the round trips of a request are the commands under load without those of the idle system', () => {
  const idle = { counts: { find: 100, update: 10 }, seconds: 5 };
  const busy = { counts: { find: 440, insert: 50, update: 4 }, seconds: 2 };
  expect(countRoundTrips(busy, idle, 100)).toEqual({ total: 4.5, commands: { find: 4, insert: 0.5, update: 0 } });
});

test('commands are read from the status of the server, without those of drivers and of the counter itself', () => {
  const status = {
    '<UNKNOWN>': 7n,
    find: { failed: 0n, rejected: 0n, total: 12n },
    getMore: { failed: 0, rejected: 0, total: 3 },
    hello: { failed: 0, total: 40 },
    ping: { failed: 0, total: 5 },
    serverStatus: { failed: 0, total: 2 },
    update: { failed: 0, total: 0, pipeline: 0 },
  };
  expect(readCounts(status)).toEqual({ find: 12, getMore: 3 });
});
