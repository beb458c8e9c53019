import { skipWaits } from '@ticketing/testkit/skip-waits.ts';
import { expect, test } from 'vitest';
import type { Endpoint } from './endpoints.ts';
import { startMisbehaviour } from './misbehave.ts';
import { seededRandom } from './random.ts';

function toEndpoint(name: string, misbehaves: boolean) {
  const sent: string[] = [];
  const receiver = { send: (behaviour: string) => sent.push(behaviour) };
  return { endpoint: { name, misbehaves, receiver } as unknown as Endpoint, sent };
}

test('receivers misbehave for a while, then the operator looks after them; in the end they behave', async () => {
  skipWaits();
  const failing = toEndpoint('failing', true);
  const steady = toEndpoint('steady', false);
  const lookedAfter: string[] = [];
  const stop = startMisbehaviour({
    endpoints: [failing.endpoint, steady.endpoint],
    operator: { redeliverSome: async ({ name }) => void lookedAfter.push(name) },
    random: seededRandom(1),
    log: { note: () => undefined },
  });
  await expect.poll(() => lookedAfter.length).toBeGreaterThan(5);
  await stop();
  expect(new Set(lookedAfter)).toEqual(new Set(['failing']));
  expect(new Set(failing.sent.filter((_, index) => index % 2 === 1))).toEqual(new Set(['accept']));
  expect(new Set(failing.sent).size).toBeGreaterThan(2);
  expect(failing.sent.at(-1)).toBe('accept');
  expect(steady.sent).toEqual([]);
});

test('a receiver that misbehaves when the end comes behaves at once', async () => {
  const { endpoint, sent } = toEndpoint('failing', true);
  // It begins at once, and would go on for hours.
  const draws = [0, 10_000];
  const stop = startMisbehaviour({
    endpoints: [endpoint],
    operator: { redeliverSome: () => Promise.reject(new Error('must not be called')) },
    random: { ...seededRandom(1), next: () => draws.shift() ?? 0 },
    log: { note: () => undefined },
  });
  await expect.poll(() => sent.length).toBe(1);
  await stop();
  expect(sent).toHaveLength(2);
  expect(sent[1]).toBe('accept');
});
