import { randomUUID } from 'node:crypto';
import { TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { OutgoingMessage } from '@ticketing/events/bus/bus.ts';
import { receivedEvent } from '@ticketing/events/bus/envelope.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import { eraseDeletedTickets } from '@ticketing/service-kit/lifecycle/erase-deleted-tickets.ts';
import { openDailyJob } from '@ticketing/store/leases/daily-job.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import fc from 'fast-check';
import type { Connection } from 'mongoose';
import mongoose from 'mongoose';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ticketChanged } from '../../test/harness.ts';
import { TicketModel } from '../../test/stub-tickets.ts';
import { eventHandler } from '../consume.ts';
import { exportStore } from '../export/store.ts';
import { setUpStore } from '../set-up-store.ts';
import type { RowParts } from './open.ts';
import { erase, project, refreshTags } from './projection.ts';
import { rebuild, reconcile } from './reconciliation.ts';
import { toRow } from './rules/from-snapshot.ts';
import { toDocument } from './store/schema.ts';
import { rowStore } from './store/store.ts';
import { tagRefreshStore } from './store/tag-refresh-store.ts';

type Snapshots = RowParts['tickets']['snapshots'];

const { signal } = new AbortController();
const call = { trace: continueTrace(undefined), signal };
let connection: Connection;

beforeAll(async () => {
  const dbName = `test_${randomUUID().slice(0, 8)}`;
  connection = await mongoose.createConnection(inject('mongodbUri'), { dbName }).asPromise();
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
});

/** Waits for some round trips to the database, while which other work with it goes on. */
async function roundTrips(count = 0): Promise<void> {
  for (let trip = 0; trip < count; trip++) await connection.db?.command({ ping: 1 });
}

/**
 * Opens a projection on an empty database. Reads of tickets return after some round trips to it; `delays` are used in turn.
 */
async function openProjection(delays: readonly number[] = [0]) {
  for (const { name } of await connection.listCollections()) {
    if (/^rows[^1]/.test(name)) await connection.dropCollection(name);
    else await connection.collection(name).deleteMany({});
  }
  await setUpStore(connection);
  const model = new TicketModel();
  let calls = 0;
  const tickets: RowParts['tickets'] = {
    async *snapshots(ids) {
      const snapshots = model.snapshots(ids);
      await roundTrips(delays[calls++ % delays.length]);
      yield snapshots;
    },
    versions: async (afterId) => model.versions(afterId, 5),
    async confirmErasure(ticketId) {
      model.confirmed.push({ ticketId, owner: 'reporting' });
    },
  };
  const parts: RowParts = {
    rows: rowStore(connection, systemRuntime),
    tagRefreshes: tagRefreshStore(connection, systemRuntime),
    exports: exportStore(connection, systemRuntime),
    reconciliations: openDailyJob(connection, 'reconciliation'),
    tickets,
    runtime: systemRuntime,
    log: createLogger('test', 'silent'),
  };
  const rows = async (generation = 1) => {
    const found = await connection.collection<{ _id: number }>(`rows${generation}`).find({}).sort({ _id: 1 }).toArray();
    return found;
  };
  return { model, parts, rows };
}

/** The rows that are expected for a model: current tickets with current tag names, and only the version of deleted ones. */
function expectedRows(model: TicketModel) {
  return [...model.tickets]
    .sort(([left], [right]) => left - right)
    .map(([id, { version, deleted }]) => {
      if (deleted) return { _id: id, version, tagRevision: 0, erasedAt: expect.any(Date) };
      const { snapshots, tags } = model.snapshots([id]);
      const [snapshot] = snapshots;
      if (!snapshot) throw new Error('the model has no such ticket');
      const document = toDocument(toRow(snapshot, new Map(tags.map((tag) => [tag.id, tag]))), 0);
      return { ...document, tagRevision: expect.any(Number) };
    });
}

type Step =
  | { kind: 'put'; id: number; tags: number[]; isNew: boolean }
  | { kind: 'delete'; id: number }
  | { kind: 'tag'; id: number; name: string; parent: number | undefined };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('put' as const),
        id: fc.integer({ min: 1, max: 6 }),
        tags: fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }),
        // Right or wrong.
        isNew: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), id: fc.integer({ min: 1, max: 6 }) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('tag' as const),
        id: fc.integer({ min: 1, max: 4 }),
        name: fc.string({ maxLength: 3 }),
        parent: fc.option(fc.constant(1), { nil: undefined }),
      }),
    },
  ),
  { minLength: 1, maxLength: 25 },
);

// guarantee: E4
test('E4: whatever is duplicated, reordered or replayed, the rows show the newest state of tickets and tags', async () => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.array(fc.nat({ max: 6 }), { minLength: 3, maxLength: 7 }),
      fc.infiniteStream(fc.nat()),
      async (history, delays, order) => {
        const { model, parts, rows } = await openProjection(delays);
        // A ticket never carries a tag that does not exist.
        for (const id of [1, 2, 3, 4]) model.putTag(id, `tag ${id}`);
        const events: (() => Promise<void>)[] = [];
        const unhandled = new Set<() => Promise<void>>();
        const deleted = new Set<number>();
        const running: Promise<void>[] = [];
        const publish = (event: () => Promise<void>) => {
          events.push(event);
          unhandled.add(event);
        };
        const handle = (event: (() => Promise<void>) | undefined) => {
          if (!event) return;
          unhandled.delete(event);
          running.push(event());
        };
        for (const step of history) {
          if (step.kind === 'tag') {
            model.putTag(step.id, step.name, step.id === 1 ? undefined : step.parent);
            publish(async () => {
              await parts.tagRefreshes.add([step.id]);
              await refreshTags(parts, signal);
            });
          } else if (deleted.has(step.id)) {
            continue;
          } else if (step.kind === 'delete') {
            const version = model.delete(step.id);
            deleted.add(step.id);
            publish(() => erase(parts, step.id, version));
          } else {
            model.put(step.id, { tagIds: step.tags, subject: `version ${history.indexOf(step)}` });
            publish(() => project(parts, [step.id], call, step.isNew ? new Set([step.id]) : undefined));
          }
          // Each event is handled at once, later or twice, while further changes are made.
          handle(events[(order.next().value ?? 0) % Math.max(1, events.length)]);
          await roundTrips((order.next().value ?? 0) % 4);
        }
        for (const event of [...unhandled].sort(() => ((order.next().value ?? 0) % 3) - 1)) handle(event);
        await Promise.all(running);
        await refreshTags(parts, signal);
        expect(await rows()).toEqual(expectedRows(model));
      },
    ),
    { numRuns: runs(6, 120), endOnFailure: true },
  );
});

test.each([
  ['that exists', true],
  ['that does not exist yet', false],
])(
  'a tag that is renamed while its old name is being written to a row %s shows its new name in the end',
  async (_, exists) => {
    const { model, parts, rows } = await openProjection();
    model.putTag(1, 'old');
    model.put(1, { tagIds: [1] });
    if (exists) await project(parts, [1], call);
    const mayReturn = Promise.withResolvers<void>();
    const wasRead = Promise.withResolvers<void>();
    let isFirst = true;
    const delayed: RowParts = {
      ...parts,
      tickets: {
        ...parts.tickets,
        async *snapshots(ids) {
          const snapshots = model.snapshots(ids);
          if (isFirst) {
            isFirst = false;
            wasRead.resolve();
            await mayReturn.promise;
          }
          yield snapshots;
        },
      },
    };
    const projected = project(delayed, [1], call);
    await wasRead.promise;
    model.putTag(1, 'new');
    await parts.tagRefreshes.add([1]);
    await refreshTags(parts, signal);
    mayReturn.resolve();
    await projected;
    expect((await rows())[0]).toMatchObject({ topic: 'new' });
  },
);

// guarantee: E4
test('whichever call fails, before or after its effect, handling the event again leads to the right rows', async () => {
  let isOver = false;
  for (let nth = 1; !isOver; nth++) {
    for (const when of ['before', 'after'] as const) {
      const { model, parts, rows } = await openProjection();
      let calls = 0;
      const failingReads = (method: Snapshots): Snapshots =>
        async function* (...args) {
          const fails = ++calls === nth;
          if (fails && when === 'before') throw new DomainError('unavailable', 'test', 'before');
          yield* method(...args);
          if (fails) throw new DomainError('unavailable', 'test', 'after');
        };
      const failing = <Port extends object>(port: Port): Port =>
        new Proxy(port, {
          get(target, name) {
            const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
            if (name === 'snapshots') return failingReads(method as unknown as Snapshots);
            return async (...args: unknown[]) => {
              const fails = ++calls === nth;
              if (fails && when === 'before') throw new DomainError('unavailable', 'test', 'before');
              const result = await method(...args);
              if (fails) throw new DomainError('unavailable', 'test', 'after');
              return result;
            };
          },
        });
      const fallible = {
        rows: failing(parts.rows),
        tagRefreshes: failing(parts.tagRefreshes),
        exports: failing(parts.exports),
        tickets: failing(parts.tickets),
        runtime: systemRuntime,
      };
      const handle = eraseDeletedTickets({
        handle: eventHandler(fallible, () => undefined),
        eraseTicket: (id, version) => erase(fallible, id, version),
        confirm: fallible.tickets.confirmErasure,
      });
      const deliver = async (...messages: OutgoingMessage[]) => {
        const events = messages.map((message) => receivedEvent({ topic: ticketChangedTopic.name, ...message }));
        for (;;) {
          try {
            await handle(events, { ...call, log: parts.log });
            return;
          } catch (error) {
            expect(error).toMatchObject({ reason: 'test' });
          }
        }
      };
      model.putTag(1, 'tag');
      const [first, second] = [model.put(1, { tagIds: [1] }), model.put(2)];
      await deliver(ticketChanged(1, first), ticketChanged(2, second));
      await deliver(ticketChanged(1, model.delete(1), TicketChangeType.TICKET_DELETED), ticketChanged(2, model.put(2)));
      expect(await rows()).toEqual(expectedRows(model));
      expect(model.confirmed.map(({ ticketId }) => ticketId)).toContain(1);
      isOver = calls < nth;
    }
  }
});

test('reconciliation finds, counts and repairs rows that are missing, stale or surplus', async () => {
  const { model, parts, rows } = await openProjection();
  for (let id = 1; id <= 13; id++) {
    model.put(id, { subject: `${id}` });
    await project(parts, [id], call);
  }
  const collection = connection.collection<{ _id: number }>('rows1');
  const options = { generation: 1, graceMs: 0, signal };
  expect(await reconcile(parts, options)).toEqual({ missing: 0, stale: 0, surplus: 0, compared: 13 });
  await collection.deleteMany({ _id: { $in: [2, 13] } });
  for (const id of [3, 4, 5]) model.put(id, { subject: 'newer' });
  model.delete(6);
  await collection.insertOne({ _id: 99, version: 1, tagRevision: 0 } as never);
  expect(await reconcile(parts, options)).toEqual({ missing: 2, stale: 3, surplus: 2, compared: 13 });
  expect(await rows()).toEqual(expectedRows(model));
  expect(model.confirmed).toEqual([{ ticketId: 6, owner: 'reporting' }]);
  expect(await reconcile(parts, options)).toMatchObject({ missing: 0, stale: 0, surplus: 0 });
});

test('a change that arrives during the grace time is not counted as drift', async () => {
  const { model, parts, rows } = await openProjection();
  let reads = 0;
  let beforeRead = async (_nth: number) => {};
  const watched: RowParts = {
    ...parts,
    rows: {
      ...parts.rows,
      async versions(...args) {
        reads += 1;
        await beforeRead(reads);
        return parts.rows.versions(...args);
      },
    },
  };
  const stopping = new AbortController();
  model.put(1);
  const waiting = reconcile(watched, { generation: 1, graceMs: 3_600_000, signal: stopping.signal });
  await expect.poll(() => reads).toBe(1);
  await roundTrips(5);
  stopping.abort();
  await expect(waiting).rejects.toThrow('aborted');
  expect(reads).toBe(1);
  beforeRead = async (nth) => void (nth === 3 && (await project(parts, [1], call)));
  expect(await reconcile(watched, { generation: 1, graceMs: 1, signal })).toMatchObject({ missing: 0 });
  expect(await rows()).toEqual(expectedRows(model));
});

test('a rebuild builds all rows again while the old ones are read, includes changes made meanwhile, and leaves no trace of deleted tickets', async () => {
  const { model, parts, rows } = await openProjection([3]);
  for (let id = 1; id <= 12; id++) {
    model.put(id, { subject: `Text ${id}` });
    await project(parts, [id], call);
  }
  await erase(parts, 7, model.delete(7));
  // An error in the old rows must not appear in the new ones.
  await connection
    .collection<{ _id: number }>('rows1')
    .updateOne({ _id: 2 }, { $set: { channel: 'wrong', version: 50 } });
  let round = 0;
  const change = async () => {
    round += 1;
    const id = (round % 6) + 1;
    model.put(id, { subject: `during ${round}` });
    if (id !== 2) await project(parts, [id], call);
    expect((await parts.rows.generations()).active).toBe(1);
  };
  const pending: Promise<void>[] = [];
  const compared = await rebuild(parts, {
    signal,
    graceMs: 0,
    onPage: () => void (round < 8 && pending.push(change())),
  });
  await Promise.all(pending);
  expect(compared).toBe(12);
  expect(await parts.rows.generations()).toEqual({ active: 2, building: null });
  for (const id of model.tickets.keys()) if (!model.tickets.get(id)?.deleted) await project(parts, [id], call);
  expect(await rows(2)).toEqual(expectedRows(model));
  const names = (await connection.listCollections()).map(({ name }) => name);
  expect(names).not.toContain('rows1');
  expect(await parts.rows.count({ queries: [], now: 0, maxTimeMs: undefined })).toBe(11);
});

test('a rebuild that was interrupted is continued', async () => {
  const { model, parts, rows } = await openProjection();
  for (let id = 1; id <= 12; id++) model.put(id);
  const interrupted = new AbortController();
  const first = rebuild(parts, {
    signal: interrupted.signal,
    graceMs: 0,
    onPage: () => interrupted.abort(new Error('killed')),
  });
  await expect(first).rejects.toThrow('killed');
  expect(await parts.rows.generations()).toEqual({ active: 1, building: 2 });
  await rebuild(parts, { signal, graceMs: 0 });
  expect(await parts.rows.generations()).toEqual({ active: 2, building: null });
  expect(await rows(2)).toEqual(expectedRows(model));
});

// guarantee: E7
test('E7: a row that is written while its ticket is erased ends up erased', async () => {
  const { parts, model, rows } = await openProjection();
  const ids = Array.from({ length: 200 }, (_, index) => index + 1);
  for (const id of ids) model.put(id);
  const written = model.snapshots(ids).snapshots.map((snapshot) => toRow(snapshot, new Map()));
  await Promise.all(
    written.flatMap((row, nth) => [
      parts.rows.put({ rows: [row], tagRevision: 1, newIds: nth % 2 === 0 ? new Set([row.id]) : undefined }),
      parts.rows.erase(row.id, row.version + 1),
    ]),
  );
  expect((await rows()).filter((row) => !('erasedAt' in row))).toEqual([]);
});
