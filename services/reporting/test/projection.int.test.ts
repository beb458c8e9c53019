import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { OutgoingMessage } from '@ticketing/events/bus/bus.ts';
import { receivedEvent } from '@ticketing/events/bus/envelope.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import { openDailyJob } from '@ticketing/store/daily-job.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import fc from 'fast-check';
import mongoose, { type Connection } from 'mongoose';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Context } from '../src/application/context.ts';
import { erase, project, refreshTags } from '../src/application/projection.ts';
import { rebuild, reconcile } from '../src/application/reconciliation.ts';
import { rowOf } from '../src/domain/row.ts';
import { eventHandler } from '../src/events/consume.ts';
import { defaultSettings } from '../src/settings.ts';
import { exportStore } from '../src/store/export-store.ts';
import { documentOf } from '../src/store/row-model.ts';
import { rowStore } from '../src/store/row-store.ts';
import { setUpStore } from '../src/store/set-up-store.ts';
import { tagRefreshStore } from '../src/store/tag-refresh-store.ts';
import { ticketChanged } from './harness.ts';
import { TicketModel } from './stub-tickets.ts';

const connections: Connection[] = [];
const seed = Number(process.env.TICKETING_TEST_SEED ?? Date.now() % 2 ** 31);
const { signal } = new AbortController();
const reason = { trace: continueTrace(undefined), signal };
let uri: string;

beforeAll(() => {
  uri = inject('mongodbUri');
});
afterAll(async () => {
  for (const connection of connections) {
    await connection.dropDatabase();
    await connection.close();
  }
});

/** A projection on a database of its own, of tickets that answer after a while what they were when they were asked. */
async function bench(delays: readonly number[] = [0]) {
  const connection = await mongoose.createConnection(uri, { dbName: `test_${randomUUID().slice(0, 8)}` }).asPromise();
  connections.push(connection);
  await setUpStore(connection);
  const model = new TicketModel();
  let calls = 0;
  const tickets: Context['tickets'] = {
    async snapshots(ids) {
      const answer = model.snapshots(ids);
      await setTimeout(delays[calls++ % delays.length]);
      return answer;
    },
    versions: async (afterId) => model.versions(afterId, 5),
    async confirmErasure(ticketId) {
      model.confirmed.push({ ticketId, owner: 'reporting' });
    },
  };
  const context: Context = {
    rows: rowStore(connection),
    tagRefreshes: tagRefreshStore(connection),
    exports: exportStore(connection),
    reconciliations: openDailyJob(connection, 'reconciliation'),
    tickets,
    settings: async () => defaultSettings,
    log: createLogger('test', 'silent'),
    exportWorker: undefined,
    now: () => Math.floor(Date.now() / 1000),
  };
  const rows = async (generation = 1) => {
    const found = await connection.collection<{ _id: number }>(`rows${generation}`).find({}).sort({ _id: 1 }).toArray();
    return found;
  };
  return { connection, model, context, rows };
}

/** What the rows must be: those of the living tickets with the names of now, and nothing but versions of the deleted. */
function expectedRows(model: TicketModel) {
  return [...model.tickets]
    .sort(([left], [right]) => left - right)
    .map(([id, { version, deleted }]) => {
      if (deleted) return { _id: id, version, tagRevision: 0, erasedAt: expect.any(Date) };
      const { snapshots, tags } = model.snapshots([id]);
      const [snapshot] = snapshots;
      if (!snapshot) throw new Error('lost');
      const document = documentOf(rowOf(snapshot, new Map(tags.map((tag) => [tag.id, tag]))), 0);
      return { ...document, tagRevision: expect.any(Number) };
    });
}

type Step =
  | { kind: 'put'; id: number; tags: number[] }
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

test(`E4: whatever is duplicated, reordered or replayed, the rows are the newest state of tickets and tags (TICKETING_TEST_SEED=${seed})`, {
  timeout: runs(60_000, 300_000),
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.array(fc.nat({ max: 6 }), { minLength: 3, maxLength: 7 }),
      fc.infiniteStream(fc.nat()),
      async (given, delays, order) => {
        const { model, context, rows } = await bench(delays);
        // A ticket never carries a tag that does not exist.
        for (const id of [1, 2, 3, 4]) model.putTag(id, `tag ${id}`);
        const events: (() => Promise<void>)[] = [];
        const unhandled = new Set<() => Promise<void>>();
        const dead = new Set<number>();
        const running: Promise<void>[] = [];
        const happened = (event: () => Promise<void>) => {
          events.push(event);
          unhandled.add(event);
        };
        const handle = (event: (() => Promise<void>) | undefined) => {
          if (!event) return;
          unhandled.delete(event);
          running.push(event());
        };
        for (const step of given) {
          if (step.kind === 'tag') {
            model.putTag(step.id, step.name, step.id === 1 ? undefined : step.parent);
            happened(async () => {
              await context.tagRefreshes.add([step.id]);
              await refreshTags(context, signal);
            });
          } else if (dead.has(step.id)) {
            continue;
          } else if (step.kind === 'delete') {
            const version = model.delete(step.id);
            dead.add(step.id);
            happened(() => erase(context, step.id, version, reason));
          } else {
            model.put(step.id, { tagIds: step.tags, subject: `version ${given.indexOf(step)}` });
            happened(() => project(context, [step.id], reason));
          }
          // An event is handled at once, or later, or twice, while the next changes are made.
          handle(events[(order.next().value ?? 0) % Math.max(1, events.length)]);
          await setTimeout((order.next().value ?? 0) % 4);
        }
        for (const event of [...unhandled].sort(() => ((order.next().value ?? 0) % 3) - 1)) handle(event);
        await Promise.all(running);
        await refreshTags(context, signal);
        expect(await rows()).toEqual(expectedRows(model));
      },
    ),
    { seed, numRuns: runs(10, 200), endOnFailure: true },
  );
});

test.each([
  ['that exists', true],
  ['that does not exist yet', false],
])('a tag that is renamed while an older name is on its way to a row %s shows in it at last', async (_, exists) => {
  const { model, context, rows } = await bench();
  model.putTag(1, 'old');
  model.put(1, { tagIds: [1] });
  if (exists) await project(context, [1], reason);
  const slow = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let isFirst = true;
  const late: Context = {
    ...context,
    tickets: {
      ...context.tickets,
      async snapshots(ids) {
        const answer = model.snapshots(ids);
        if (isFirst) {
          isFirst = false;
          asked.resolve();
          await slow.promise;
        }
        return answer;
      },
    },
  };
  const projected = project(late, [1], reason);
  await asked.promise;
  model.putTag(1, 'new');
  await context.tagRefreshes.add([1]);
  await refreshTags(context, signal);
  slow.resolve();
  await projected;
  expect((await rows())[0]).toMatchObject({ topic: 'new' });
});

test('whichever call fails, before or after its work, an event that comes again ends in the right rows', async () => {
  let isOver = false;
  for (let nth = 1; !isOver; nth++) {
    for (const when of ['before', 'after'] as const) {
      const { model, context, rows } = await bench();
      let calls = 0;
      const failing = <Port extends object>(port: Port): Port =>
        new Proxy(port, {
          get(target, name) {
            const method = Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>;
            return async (...given: unknown[]) => {
              const fails = ++calls === nth;
              if (fails && when === 'before') throw new DomainError('unavailable', 'test', 'before');
              const result = await method(...given);
              if (fails) throw new DomainError('unavailable', 'test', 'after');
              return result;
            };
          },
        });
      const fallible = {
        rows: failing(context.rows),
        tagRefreshes: failing(context.tagRefreshes),
        exports: failing(context.exports),
        tickets: failing(context.tickets),
      };
      const handle = eventHandler(fallible, () => undefined);
      const deliver = async (...messages: OutgoingMessage[]) => {
        const events = messages.map((message) => receivedEvent({ topic: ticketChangedTopic.name, ...message }));
        for (;;) {
          try {
            await handle(events, { ...reason, log: context.log });
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

test('reconciliation finds and repairs rows that are missing, stale or surplus, and counts them', async () => {
  const { connection, model, context, rows } = await bench();
  for (let id = 1; id <= 13; id++) {
    model.put(id, { subject: `${id}` });
    await project(context, [id], reason);
  }
  const collection = connection.collection<{ _id: number }>('rows1');
  const options = { generation: 1, graceMs: 0, signal };
  expect(await reconcile(context, options)).toEqual({ missing: 0, stale: 0, surplus: 0, compared: 13 });
  await collection.deleteMany({ _id: { $in: [2, 13] } });
  for (const id of [3, 4, 5]) model.put(id, { subject: 'newer' });
  model.delete(6);
  await collection.insertOne({ _id: 99, version: 1, tagRevision: 0 } as never);
  expect(await reconcile(context, options)).toEqual({ missing: 2, stale: 3, surplus: 2, compared: 13 });
  expect(await rows()).toEqual(expectedRows(model));
  expect(model.confirmed).toEqual([{ ticketId: 6, owner: 'reporting' }]);
  expect(await reconcile(context, options)).toMatchObject({ missing: 0, stale: 0, surplus: 0 });
});

test('what arrives while the reconciliation waits is no drift', async () => {
  const { model, context, rows } = await bench();
  model.put(1);
  const late = setTimeout(100).then(() => project(context, [1], reason));
  expect(await reconcile(context, { generation: 1, graceMs: 500, signal })).toMatchObject({ missing: 0 });
  await late;
  expect(await rows()).toEqual(expectedRows(model));
});

test('a rebuild makes all rows anew beside those that are read, follows changes meanwhile, and leaves no trace of deleted tickets', async () => {
  const { connection, model, context, rows } = await bench([3]);
  for (let id = 1; id <= 12; id++) {
    model.put(id, { subject: `Text ${id}` });
    await project(context, [id], reason);
  }
  await erase(context, 7, model.delete(7), reason);
  // What the old rows have wrong is not taken over.
  await connection
    .collection<{ _id: number }>('rows1')
    .updateOne({ _id: 2 }, { $set: { channel: 'wrong', version: 50 } });
  let round = 0;
  const change = async () => {
    round += 1;
    const id = (round % 6) + 1;
    model.put(id, { subject: `during ${round}` });
    if (id !== 2) await project(context, [id], reason);
    expect((await context.rows.generations()).active).toBe(1);
  };
  const pending: Promise<void>[] = [];
  const compared = await rebuild(context, {
    signal,
    graceMs: 0,
    onPage: () => void (round < 8 && pending.push(change())),
  });
  await Promise.all(pending);
  expect(compared).toBe(12);
  expect(await context.rows.generations()).toEqual({ active: 2, building: null });
  for (const id of model.tickets.keys()) if (!model.tickets.get(id)?.deleted) await project(context, [id], reason);
  expect(await rows(2)).toEqual(expectedRows(model));
  const names = (await connection.listCollections()).map(({ name }) => name);
  expect(names).not.toContain('rows1');
  expect(await context.rows.count({ queries: [], now: 0, maxTimeMs: undefined })).toBe(11);
});

test('a rebuild that was broken off is gone on with', async () => {
  const { model, context, rows } = await bench();
  for (let id = 1; id <= 12; id++) model.put(id);
  const broken = new AbortController();
  const first = rebuild(context, {
    signal: broken.signal,
    graceMs: 0,
    onPage: () => broken.abort(new Error('killed')),
  });
  await expect(first).rejects.toThrow('killed');
  expect(await context.rows.generations()).toEqual({ active: 1, building: 2 });
  await rebuild(context, { signal, graceMs: 0 });
  expect(await context.rows.generations()).toEqual({ active: 2, building: null });
  expect(await rows(2)).toEqual(expectedRows(model));
});

test('E7: a row that is written at the moment of its erasure is erased', async () => {
  const { context, model, rows } = await bench();
  const ids = Array.from({ length: 200 }, (_, index) => index + 1);
  for (const id of ids) model.put(id);
  const written = model.snapshots(ids).snapshots.map((snapshot) => rowOf(snapshot, new Map()));
  await Promise.all(
    written.flatMap((row) => [context.rows.put([row], 1), context.rows.erase(row.id, row.version + 1)]),
  );
  expect((await rows()).filter((row) => !('erasedAt' in row))).toEqual([]);
});
