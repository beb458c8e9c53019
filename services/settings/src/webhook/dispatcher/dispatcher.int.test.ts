import { create, toBinary } from '@bufbuild/protobuf';
import { TicketChangedSchema } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { WebhookDeliveryStatus, WebhookStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { turns } from '@ticketing/testkit/turns.ts';
import { secretBox } from '@ticketing/text/sealed-text.ts';
import fc from 'fast-check';
import type { Connection } from 'mongoose';
import { beforeAll, expect, it } from 'vitest';
import { deliveryFixture } from '../delivery/rules/delivery-fixture.ts';
import { buildDeliveryIndexes } from '../delivery/schema.ts';
import { deliveryStore } from '../delivery/store.ts';
import { healthy } from '../rules/health.ts';
import { newWebhookSecret, webhookBinding } from '../rules/secret.ts';
import { buildWebhookIndexes, webhookStore } from '../store.ts';
import { attemptDelivery } from './attempt-delivery.ts';
import { endpointCache } from './endpoint-cache.ts';
import { deliveryQueue } from './queue-store.ts';
import { type DispatcherParts, startDispatcher } from './start.ts';

const log = createLogger('test', 'silent');
const box = secretBox([systemRuntime.randomBytes(32)], systemRuntime);
const ticketIds = [1, 2];
let store: Connection;
/** Dispatchers with leases in different databases each own all endpoints. */
let leases: Connection[];
/** Stores and leases for checks that run at once. */
let lanes: { store: Connection; leases: Connection }[];

beforeAll(async () => {
  store = await openStore();
  leases = [await testDatabase(), await testDatabase()];
  const openLane = async () => ({ store: await openStore(), leases: await testDatabase() });
  lanes = await Promise.all(Array.from({ length: 6 }, openLane));
});

type Around = <Result>(work: () => Promise<Result>, name: string) => Promise<Result>;

/** The status with which a receiver responds to an attempt of a delivery, counted from 1. */
type Respond = (attempt: number, received: { webhookId: number; version: number }) => number;

/** Makes every call of a part of the dispatcher to the store through `around`. */
function allAround<Part extends object>(part: Part, around: Around): Part {
  const wrapped = Object.entries(part).map(([name, call]) => [
    name,
    (...given: unknown[]) => around(async () => call(...given), name),
  ]);
  return Object.fromEntries(wrapped) as Part;
}

/** A database with the collections of endpoints and deliveries. */
async function openStore(): Promise<Connection> {
  const connection = await testDatabase();
  await buildDeliveryIndexes(connection);
  await buildWebhookIndexes(connection);
  return connection;
}

/** Replaces the endpoints and deliveries of a store, and makes receivers that record their requests. */
async function setUpEndpoints(
  store: Connection,
  versions: number,
  webhookIds: readonly number[] = [1, 2, 3],
  respond: Respond = () => 204,
) {
  const webhooks = webhookStore(store, systemRuntime);
  const deliveries = deliveryStore(store, systemRuntime);
  const queue = deliveryQueue(store);
  await store.collection('webhookDeliveries').deleteMany({});
  await store.collection('webhooks').deleteMany({});
  let now = Date.now();
  const runtime = { ...systemRuntime, now: () => now };
  const attempts = new Map<string, number>();
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
      const id = headers['webhook-id'] ?? '';
      received.push({ url, ticketId, version, id });
      const attempt = (attempts.get(url + id) ?? 0) + 1;
      attempts.set(url + id, attempt);
      const status = respond(attempt, { webhookId: Number(url.split('/').at(-1)), version });
      return { status, headers: {}, body: Buffer.alloc(0), isComplete: true, address: undefined, durationMs: 1 };
    },
  };
  /** Starts a dispatcher whose every call of the store and of a receiver is made by `around`. */
  const start = (connection: Connection, around: Around) => {
    const sending = { outbound: allAround(outbound, around), secretBox: box, runtime };
    const parts: DispatcherParts = {
      database: { connection, opened: Promise.resolve() },
      endpoints: endpointCache(allAround(webhooks, around)),
      queue: allAround(queue, around),
      webhooks: allAround(webhooks, around),
      runtime,
      log,
      send: (...attempt) => attemptDelivery(sending, ...attempt),
      count: () => undefined,
    };
    const dispatcher = startDispatcher(parts, { durationMs: 60_000, renewMs: 500, waitMs: 20 });
    // Each wake is two minutes later, so that failed deliveries are attempted again soon.
    const waking = setInterval(() => {
      now += 120_000;
      dispatcher.wake();
    }, 20);
    return {
      async stop() {
        clearInterval(waking);
        await dispatcher.stop();
      },
    };
  };
  const pending = () => store.collection('webhookDeliveries').countDocuments({ isPending: true });
  const listFirsts = (webhookId: number, ticketId: number) => [
    ...new Set(
      received
        .filter((one) => one.url.endsWith(`/${webhookId}`) && one.ticketId === ticketId)
        .map(({ version }) => version),
    ),
  ];
  return {
    start,
    received,
    webhooks,
    pending,
    async expectAllDelivered() {
      await expect.poll(pending).toBe(0);
      const all = Array.from({ length: versions }, (_, index) => index + 1);
      for (const id of webhookIds) for (const ticket of ticketIds) expect(listFirsts(id, ticket)).toEqual(all);
      const statuses = await store.collection('webhookDeliveries').distinct('status');
      expect(statuses).toEqual([WebhookDeliveryStatus.DELIVERED]);
    },
  };
}

// guarantee: W5
it('two dispatchers that both own all endpoints lose nothing and keep the order of each ticket', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 8, maxLength: 8 }),
      async (versions, delays) => {
        const { start, expectAllDelivered } = await setUpEndpoints(store, versions);
        let calls = 0;
        // Each step of each dispatcher takes a random number of turns, so that one records what the other is still sending.
        const slow: Around = async (work) => {
          await turns(50 * (delays[calls++ % delays.length] ?? 0));
          return work();
        };
        const both = leases.map((connection) => start(connection, slow));
        await expectAllDelivered();
        await Promise.all(both.map((one) => one.stop()));
      },
    ),
    { numRuns: runs(3, 60) },
  );
});

/** The store of a check, its leases, and the function that makes each call. */
interface Check {
  store: Connection;
  leases: Connection;
  around: Around;
}

/**
 * Runs a check again and again. Each run fails another call of the store or of a receiver, before or after its effect: the
 * first call of its name, and in the part "searches" the second as well. Every name has to be called. The checks mostly wait
 * for another attempt, so several run at once, each in separate databases.
 */
async function whicheverCallFails(names: readonly string[], check: (given: Check) => Promise<void>): Promise<void> {
  const failed = new Set<string>();
  const cases = names.flatMap((failing) =>
    [1, 2].slice(0, runs(1, 2)).flatMap((nth) => ['before', 'after'].map((when) => ({ failing, nth, when }))),
  );
  const runCases = async (databases: Pick<Check, 'store' | 'leases'>) => {
    for (let next = cases.shift(); next; next = cases.shift()) {
      const { failing, nth, when } = next;
      let calls = 0;
      const around: Around = async (work, name) => {
        const fails = name === failing && ++calls === nth;
        if (fails) failed.add(name);
        if (fails && when === 'before') throw new DomainError('unavailable', 'test', when);
        const result = await work();
        if (fails) throw new DomainError('unavailable', 'test', when);
        return result;
      };
      await check({ ...databases, around });
    }
  };
  await Promise.all(lanes.map(runCases));
  expect([...failed].sort()).toEqual(names.toSorted());
}

const always = ['all', 'withDue', 'due', 'request', 'record', 'saveHealth'];

// guarantee: W5
it('whichever call fails, before or after its effect, nothing is lost or out of order', async () => {
  await whicheverCallFails([...always, 'release'], async ({ store, leases, around }) => {
    const { start, expectAllDelivered } = await setUpEndpoints(store, 2, [1], (attempt, { version }) =>
      version === 1 && attempt === 1 ? 500 : 204,
    );
    const dispatcher = start(leases, around);
    await expectAllDelivered();
    await dispatcher.stop();
  });
});

const ends: [which: string, ticketIds: number[]][] = [
  ['all its deliveries', ticketIds],
  ['its only delivery', [1]],
];

// guarantee: W8
it.each(ends.slice(0, runs(1, 2)))(
  'whichever call fails, an endpoint that is gone is disabled, and %s end',
  async (_which, kept) => {
    await whicheverCallFails([...always, 'disable', 'exhaust'], async ({ store, leases, around }) => {
      const { start, webhooks, pending } = await setUpEndpoints(store, kept.length, [1], () => 410);
      await store.collection('webhookDeliveries').deleteMany({ ticketId: { $nin: kept } });
      const dispatcher = start(leases, around);
      await expect.poll(async () => (await webhooks.find(1))?.status).toBe(WebhookStatus.DISABLED);
      await expect.poll(pending).toBe(0);
      await dispatcher.stop();
    });
  },
);

it('a dispatcher that is stopped in the middle leaves the rest to the next one', async () => {
  const { start, received, expectAllDelivered } = await setUpEndpoints(store, 20);
  const isStopping = Promise.withResolvers<void>();
  const slow: Around = async (work) => {
    if (received.length > 10) await isStopping.promise;
    return work();
  };
  const [connection = expect.unreachable('there are no leases')] = leases;
  const first = start(connection, slow);
  await expect.poll(() => received.length).toBeGreaterThan(10);
  const stopped = first.stop();
  isStopping.resolve();
  await stopped;
  const before = received.length;
  expect(before).toBeLessThan(20 * 3 * ticketIds.length);
  const second = start(connection, slow);
  await expectAllDelivered();
  await second.stop();
  // All deliveries that were sent before the stop were recorded, so none was sent twice.
  expect(received).toHaveLength(20 * 3 * ticketIds.length);
});
