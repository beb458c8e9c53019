import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deliveryFixture } from '../src/webhook/delivery/rules/delivery-fixture.ts';
import { deliveryStore } from '../src/webhook/delivery/store.ts';
import { startWebhookHarness, type WebhookHarness } from './webhook-harness.ts';

let harness: WebhookHarness;

beforeAll(async () => {
  harness = await startWebhookHarness();
});
afterAll(() => harness.stop());

it('the list of deliveries ends a page before its bytes are too many, and the next page continues there', async () => {
  const { id } = await harness.createWebhook({ url: 'http://127.0.0.1:1/', status: 'paused' });
  const log = (responseStart: string) =>
    Array.from({ length: 20 }, () => ({
      ...{ at: 0, durationMs: 1, status: 500, errorKind: null, address: null },
      ...{ responseStart, responseJsonBytes: JSON.stringify(responseStart).length },
    }));
  const add = async (start: number, count: number, responseStart: string) => {
    const added = Array.from({ length: count }, (_, index) => {
      const key = String(start + index).padStart(4, '0');
      return deliveryFixture({
        id: `dlv_${key}`,
        eventId: `evt_${id}_${key}`,
        webhookId: id,
        position: 1,
        attempts: log(responseStart),
      });
    });
    await deliveryStore(harness.database as never, systemRuntime).add(added);
  };
  const page = async (query: string) => (await harness.request('GET', `/webhook/${id}/delivery?${query}`)).json;
  await add(0, 101, 'a'.repeat(4096));
  const whole = await page('');
  expect([whole.deliveries.length, whole.deliveries[0].id]).toEqual([100, 'dlv_0100']);
  // A character of this text has six bytes in JSON.
  await add(101, 40, '\u0001'.repeat(4096));
  const ids: string[] = [];
  const lengths: number[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { deliveries, nextCursor } = await page(`limit=1000${cursor === '' ? '' : `&cursor=${cursor}`}`);
    expect(Buffer.byteLength(JSON.stringify(deliveries))).toBeLessThan(16 * 1024 * 1024);
    ids.push(...deliveries.map((delivery: { id: string }) => delivery.id));
    lengths.push(deliveries.length);
    cursor = nextCursor;
  }
  expect(ids).toEqual(Array.from({ length: 141 }, (_, index) => `dlv_${String(140 - index).padStart(4, '0')}`));
  // Of 498 kB each.
  expect(lengths[0]).toBe(Math.floor((16 * 1024 * 1024) / (500 + 20 * (300 + 6 * 4096 + 2))));
  expect(lengths).toHaveLength(2);
});
