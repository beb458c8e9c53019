import { afterAll, expect, test } from 'vitest';
import { monotonicMs, receivedKey, startReceivers } from './webhook-receivers.ts';

const receivers = await startReceivers(2);
afterAll(() => receivers.stop());

const post = async (endpoint: number, data: { ticketId: number; version: number }) =>
  (await fetch(receivers.urls[endpoint] ?? '', { method: 'POST', body: JSON.stringify({ data }) })).status;

test('what is received is reported once, and a receiver that hangs responds when it hangs no more', async () => {
  const before = monotonicMs();
  expect(await Promise.all([post(0, { ticketId: 1, version: 2 }), post(1, { ticketId: 1, version: 2 })])).toEqual([
    204, 204,
  ]);
  await post(1, { ticketId: 1, version: 2 });
  await receivers.until(() => receivers.received.size === 2, 'both are received');
  expect([...receivers.received.keys()].toSorted()).toEqual(['0/1/2', '1/1/2']);
  const at = receivers.received.get(receivedKey({ endpoint: 1, ticketId: 1, version: 2 }))?.at ?? Number.NaN;
  expect(at).toBeGreaterThan(before);
  expect(at).toBeLessThan(monotonicMs());

  await receivers.hang(0);
  const hanging = post(0, { ticketId: 2, version: 1 });
  hanging.catch(() => undefined);
  await post(1, { ticketId: 3, version: 1 });
  await receivers.until(() => receivers.received.size === 3, 'that of the second receiver is received');
  expect(receivers.received.has('1/3/1')).toBe(true);
  await receivers.hang(undefined);
  expect(await hanging).toBe(204);
});
