import { expect, test } from 'vitest';
import { deviation, neededCapacity } from './capacity.ts';

const none = { services: { tickets: 0, gateway: 0 }, store: 0 };
const point = { request: { services: { tickets: 10, gateway: 2 }, store: 5 }, idle: none };

test('a planned load needs the processes that its busiest hour keeps half busy, and two for availability', () => {
  // 100 agents make 10 requests a second; 12,000 tickets a day with 4 changes each are 5 writes a second at the peak.
  const needed = neededCapacity({ agents: 100, ticketsPerDay: 12_000, changesPerTicket: 4 }, point);
  expect(needed.requestsPerSecond).toBeCloseTo(15);
  expect(needed.serviceCores).toBeCloseTo((15 * 0.012) / 0.5);
  expect(needed.storeCores).toBeCloseTo((15 * 0.005) / 0.5);
  expect(needed.processes).toEqual({ tickets: 2, gateway: 2 });
});

test('a process is at most one core', () => {
  const needed = neededCapacity({ agents: 1_001, ticketsPerDay: 0, changesPerTicket: 0 }, point);
  // 100.1 requests a second of 10 ms each, at half of a core for each process.
  expect(needed.processes).toEqual({ tickets: 3, gateway: 2 });
});

test('what processes use without a request is left out of the room for requests, and added for each process', () => {
  const idle = { services: { tickets: 100, gateway: 0 }, store: 50 };
  const needed = neededCapacity({ agents: 1_000, ticketsPerDay: 0, changesPerTicket: 0 }, { ...point, idle });
  // 100 requests a second are 1,000 ms of CPU time, of 400 ms in each process.
  expect(needed.processes).toEqual({ tickets: 3, gateway: 2 });
  expect(needed.serviceCores).toBeCloseTo((100 * 0.012 + 3 * 0.1) / 0.5);
  // The store serves two and a half times the processes that were measured.
  expect(needed.storeCores).toBeCloseTo((100 * 0.005 + 2.5 * 0.05) / 0.5);
});

test('two points are compared by what a request costs beyond the idle processes', () => {
  const request = { services: { tickets: 12, gateway: 2 }, store: 6.4 };
  expect(deviation(point, { request, idle: point.request })).toBeCloseTo(0.2);
});
