import { setTimeout } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { TicketChangedSchema } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { WebhookDeliveryStatus, WebhookStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import fc from 'fast-check';
import type { Connection } from 'mongoose';
import { beforeAll, expect, it } from 'vitest';
import { startDispatcher } from '../src/dispatcher/dispatcher.ts';
import { endpointCache } from '../src/dispatcher/endpoint-cache.ts';
import type { WorkerContext } from '../src/dispatcher/endpoint-worker.ts';
import { deliveryFixture } from '../src/domain/delivery-fixture.ts';
import { secretBox } from '../src/domain/sealed-text.ts';
import { healthy } from '../src/domain/webhook-health.ts';
import { newWebhookSecret, webhookBinding } from '../src/domain/webhook-signature.ts';
import { buildDeliveryIndexes } from '../src/store/delivery-model.ts';
import { deliveryQueue } from '../src/store/delivery-queue.ts';
import { deliveryStore } from '../src/store/delivery-store.ts';
import { buildWebhookIndexes, webhookStore } from '../src/store/webhook-store.ts';

const log = createLogger('test', 'silent');
const box = secretBox([systemRuntime.randomBytes(32)], systemRuntime);
const ticketIds = [1, 2];
let store: Connection;
/** Dispatchers with leases in different databases each own all endpoints. */
let leases: Connection[];

beforeAll(async () => {
  store = await testDatabase();
  await buildDeliveryIndexes(store);
  await buildWebhookIndexes(store);
  leases = [await testDatabase(), await testDatabase()];
});

type Around = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Endpoints with pending deliveries, and receivers that record what they get. */
async function setUpEndpoints(versions: number, webhookIds: readonly number[] = [1, 2, 3]) {
  const webhooks = webhookStore(store, systemRuntime);
  const deliveries = deliveryStore(store);
  const queue = deliveryQueue(store);
  await store.collection('webhookDeliveries').deleteMany({});
  await store.collection('webhooks').deleteMany({});
  const received: { url: string; ticketId: number; version: number; id: string }[] = [];
  for (const id of webhookIds) {
    const sealed = box.seal(newWebhookSecret(systemRuntime), webhookBinding(id));
    await webhooks.add({
      ...{ id, url: `https://example.com/${id}`, description: null, eventTypes: [], subchannelIds: [], createdAt: 0 },
      ...{ status: WebhookStatus.ACTIVE, disabledReason: null, afterPosition: 0, health: healthy, epoch: 1 },
      secrets: [{ sealed, endsAt: null, requestId: null }],
    });
    const added = Array.from({ length: versions }, (_, index) =>
      ticketIds.map((ticketId) => {
        const position = index * ticketIds.length + ticketId;
        const event = { eventId: `evt_${position}`, ticketId, version: index + 1 };
        const bytes = toBinary(TicketChangedSchema, create(TicketChangedSchema, event));
        return deliveryFixture({ id: `dlv_${id}_${position}`, webhookId: id, ticketId, position, event: bytes });
      }),
    );
    await deliveries.add(added.flat());
  }
  const outbound: Pick<OutboundGuard, 'request'> = {
    async request({ url, body, headers = {} }) {
      const { ticketId, version } = JSON.parse(String(body)).data;
      received.push({ url, ticketId, version, id: headers['webhook-id'] ?? '' });
      return { status: 204, headers: {}, body: Buffer.alloc(0), isComplete: true, address: undefined, durationMs: 1 };
    },
  };
  /** Starts a dispatcher whose every call of the store and of a receiver is made by `around`. */
  const start = (connection: Connection, around: Around) => {
    const context: Omit<WorkerContext, 'recorder' | 'wakeAt'> = {
      endpoints: endpointCache({ all: () => around(webhooks.all) }),
      queue: {
        ...queue,
        withDue: (...given) => around(() => queue.withDue(...given)),
        due: (...given) => around(() => queue.due(...given)),
        record: (...given) => around(() => queue.record(...given)),
      },
      webhooks,
      outbound: { request: (request) => around(() => outbound.request(request)) },
      secretBox: box,
      runtime: systemRuntime,
      log,
      count: () => undefined,
    };
    return startDispatcher({
      database: { connection, opened: Promise.resolve() },
      context,
      leaseTimes: { durationMs: 3_000, renewMs: 500, waitMs: 20 },
    });
  };
  const pending = () => store.collection('webhookDeliveries').countDocuments({ isPending: true });
  const firstsOf = (webhookId: number, ticketId: number) => [
    ...new Set(
      received
        .filter((one) => one.url.endsWith(`/${webhookId}`) && one.ticketId === ticketId)
        .map(({ version }) => version),
    ),
  ];
  return {
    start,
    received,
    async expectAllDelivered() {
      await expect.poll(pending, { timeout: 15_000 }).toBe(0);
      const all = Array.from({ length: versions }, (_, index) => index + 1);
      for (const id of webhookIds) for (const ticket of ticketIds) expect(firstsOf(id, ticket)).toEqual(all);
      const statuses = await store.collection('webhookDeliveries').distinct('status');
      expect(statuses).toEqual([WebhookDeliveryStatus.DELIVERED]);
    },
  };
}

it('two dispatchers that both own all endpoints lose nothing and keep the order of each ticket', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 8, maxLength: 8 }),
      async (versions, delays) => {
        const { start, expectAllDelivered } = await setUpEndpoints(versions);
        let calls = 0;
        // Each step of each dispatcher takes a random time, so that one records what the other is still sending.
        const slow: Around = async (work) => {
          await setTimeout(delays[calls++ % delays.length]);
          return work();
        };
        const both = leases.map((connection) => start(connection, slow));
        await expectAllDelivered();
        await Promise.all(both.map((one) => one.stop()));
      },
    ),
    { numRuns: runs(4, 100) },
  );
}, 120_000);

it('whichever call fails, before or after its effect, nothing is lost or out of order', async () => {
  const [connection] = leases;
  if (!connection) throw new Error('there are no leases');
  for (let nth = 1, isOver = false; !isOver; nth += 1) {
    for (const when of ['before', 'after'] as const) {
      const { start, expectAllDelivered } = await setUpEndpoints(2, [1]);
      let calls = 0;
      const failing: Around = async (work) => {
        const fails = ++calls === nth;
        if (fails && when === 'before') throw new DomainError('unavailable', 'test', 'before');
        const result = await work();
        if (fails) throw new DomainError('unavailable', 'test', 'after');
        return result;
      };
      const dispatcher = start(connection, failing);
      await expectAllDelivered();
      isOver = calls < nth;
      await dispatcher.stop();
    }
  }
}, 120_000);

it('a dispatcher that is stopped in the middle leaves the rest to the next one', async () => {
  const { start, received, expectAllDelivered } = await setUpEndpoints(20);
  const slow: Around = async (work) => {
    await setTimeout(5);
    return work();
  };
  const [connection] = leases;
  if (!connection) throw new Error('there are no leases');
  const first = start(connection, slow);
  await expect.poll(() => received.length).toBeGreaterThan(10);
  await first.stop();
  const before = received.length;
  expect(before).toBeLessThan(20 * 3 * ticketIds.length);
  const second = start(connection, slow);
  await expectAllDelivered();
  await second.stop();
  // What was sent before the stop was recorded.
  expect(received).toHaveLength(20 * 3 * ticketIds.length);
});
