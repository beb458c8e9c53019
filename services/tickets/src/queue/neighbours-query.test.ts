import { setImmediate } from 'node:timers/promises';
import { Priority, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type QueueChange, queueKeys } from '../ticket/rules/queue-keys.ts';
import { type QueueView, queueNeighbours } from './neighbours-query.ts';
import type { KeysAround } from './window-query.ts';

const view: QueueView = { order: 'sla', spamTagId: null };
const spamTagId = 9;

type Queued = NonNullable<QueueChange['after']>;

const ticket = (id: number, dueBy: number, fields: Partial<Queued> = {}): Queued => ({
  id,
  dueBy,
  createdAt: 0,
  priority: Priority.LOW,
  status: TicketStatus.OPEN,
  spamStatus: null,
  tagIds: [],
  ...fields,
});

/** A version of a ticket, and when it was stored. */
interface Stored {
  id: number;
  version: number;
  after: Queued | undefined;
  at: number;
}

/** Whether a ticket is in the queue, written directly from docs/reference/api.md, Queue. */
const isQueued = ({ status, tagIds }: Queued, { spamTagId }: QueueView) =>
  status === TicketStatus.OPEN && (spamTagId === null || !tagIds.includes(spamTagId));

/** A queue that several processes change. One of them has the neighbours under test, by a clock that the test sets. */
function openQueue(pause: () => Promise<void> = async () => undefined) {
  const stored = new Map<number, { version: number; after: Queued | undefined }>();
  const history: Stored[] = [];
  /** The versions of changes that this process has made. */
  const acknowledged = new Map<number, number>();
  const clock = { ms: 0 };
  const reads: number[] = [];

  function keysAround(of: QueueView, key: string, width: number): KeysAround {
    const keys = [...stored.values()]
      .flatMap(({ after }) => (after && isQueued(after, of) ? [queueKeys(after)[of.order]] : []))
      .sort();
    return {
      before: keys
        .filter((one) => one < key)
        .slice(-width)
        .reverse(),
      after: keys.filter((one) => one >= key).slice(0, width + 1),
    };
  }

  const neighbours = queueNeighbours(
    async (of, key, width) => {
      reads.push(width);
      await pause();
      const found = keysAround(of, key, width);
      await pause();
      return found;
    },
    () => clock.ms,
  );

  /** Stores a change. A direct call is a change by another process. */
  function store(id: number, after: Queued | undefined): void {
    const version = (stored.get(id)?.version ?? 0) + 1;
    stored.set(id, { version, after });
    history.push({ id, version, after, at: clock.ms });
  }

  /** A change by this process. */
  function change(id: number, after: Queued | undefined): Promise<boolean> {
    const version = (stored.get(id)?.version ?? 0) + 1;
    return neighbours.changing({ id, version, after }, async () => {
      await pause();
      if (version !== (stored.get(id)?.version ?? 0) + 1) return false;
      store(id, after);
      await pause();
      acknowledged.set(id, Math.max(version, acknowledged.get(id) ?? 0));
      return true;
    });
  }

  const find = (of: Queued, inView = view) => neighbours.find(inView, { id: of.id, key: queueKeys(of)[inView.order] });
  return { history, acknowledged, clock, reads, neighbours, change, changeElsewhere: store, find };
}

describe('neighbours in the queue', () => {
  // guarantee: R1
  test('may be old for less than a second, by the clock of the process', async () => {
    const queue = openQueue();
    for (const id of [1, 2, 3]) queue.changeElsewhere(id, ticket(id, id));
    expect(await queue.find(ticket(2, 2))).toEqual({ previous: 1, next: 3 });
    queue.changeElsewhere(4, ticket(4, 3));
    queue.changeElsewhere(3, ticket(3, 9));
    queue.clock.ms = 899;
    expect(await queue.find(ticket(2, 2))).toEqual({ previous: 1, next: 3 });
    expect(queue.reads).toHaveLength(1);
    queue.clock.ms = 900;
    expect(await queue.find(ticket(2, 2))).toEqual({ previous: 1, next: 4 });
    expect(queue.reads).toHaveLength(2);
  });

  test('of the changes of this process are never old', async () => {
    const queue = openQueue();
    for (const id of [1, 2, 3, 4]) queue.changeElsewhere(id, ticket(id, id * 10));
    const at = ticket(2, 20);
    await queue.find(at);
    await queue.change(1, ticket(1, 50));
    expect(await queue.find(at)).toEqual({ previous: undefined, next: 3 });
    await queue.change(3, ticket(3, 30, { status: TicketStatus.CLOSED }));
    expect(await queue.find(at)).toEqual({ previous: undefined, next: 4 });
    await queue.change(5, ticket(5, 19));
    expect(await queue.find(at)).toEqual({ previous: 5, next: 4 });
    await queue.change(4, undefined);
    expect(await queue.find(at)).toEqual({ previous: 5, next: 1 });
    expect(queue.reads).toHaveLength(1);
  });

  // guarantee: R1
  test('have a change that this process makes while they are read', async () => {
    const paused = [Promise.resolve(), Promise.withResolvers<void>()] as const;
    const pauses = [paused[0], paused[1].promise];
    const queue = openQueue(() => pauses.shift() ?? Promise.resolve());
    for (const id of [1, 2]) queue.changeElsewhere(id, ticket(id, id));
    const reading = queue.find(ticket(2, 2));
    await setImmediate();
    await queue.change(1, ticket(1, 5));
    paused[1].resolve();
    expect(await reading).toEqual({ previous: 1, next: undefined });
    expect(await queue.find(ticket(2, 2))).toEqual({ previous: undefined, next: 1 });
    expect(queue.reads).toHaveLength(1);
  });

  test('have a change that this process makes while they are read, if the settings change and change back meanwhile', async () => {
    const responds = Promise.withResolvers<void>();
    const pauses = [Promise.resolve(), responds.promise];
    const queue = openQueue(() => pauses.shift() ?? Promise.resolve());
    for (const id of [1, 2]) queue.changeElsewhere(id, ticket(id, id));
    const reading = queue.find(ticket(2, 2));
    await setImmediate();
    await queue.change(1, ticket(1, 5));
    await queue.find(ticket(2, 2), { order: 'sla', spamTagId });
    await queue.find(ticket(1, 5));
    responds.resolve();
    await reading;
    expect(await queue.find(ticket(2, 2))).toEqual({ previous: undefined, next: 1 });
  });

  test('have a change of which this process does not know whether it was made', async () => {
    const queue = openQueue();
    for (const id of [1, 2]) queue.changeElsewhere(id, ticket(id, id));
    await queue.find(ticket(2, 2));
    const failed = queue.neighbours.changing({ id: 1, version: 2, after: ticket(1, 5) }, async () => {
      queue.changeElsewhere(1, ticket(1, 5));
      throw new Error('the connection broke');
    });
    await expect(failed).rejects.toThrow('the connection broke');
    expect(await queue.find(ticket(2, 2))).toEqual({ previous: undefined, next: 1 });
  });

  test('are no older than a change of this process that another process has replaced', async () => {
    const queue = openQueue();
    for (const id of [1, 2]) queue.changeElsewhere(id, ticket(id, id));
    const responds = Promise.withResolvers<boolean>();
    await queue.find(ticket(2, 2));
    queue.clock.ms = 1000;
    const change = queue.neighbours.changing({ id: 1, version: 2, after: ticket(1, 5) }, () => responds.promise);
    queue.clock.ms = 1500;
    queue.changeElsewhere(1, undefined);
    expect(await queue.find(ticket(2, 2))).toEqual({ previous: undefined, next: undefined });
    responds.resolve(true);
    await change;
    queue.clock.ms = 1899;
    expect(await queue.find(ticket(2, 2))).toEqual({ previous: undefined, next: 1 });
    queue.clock.ms = 1900;
    expect(await queue.find(ticket(2, 2))).toEqual({ previous: undefined, next: undefined });
  });

  test.each([
    { id: 22, previous: 21, next: 23 },
    { id: 38, previous: 37, next: 39 },
  ])('at the edge of what was read are read: $id', async ({ id, ...neighbours }) => {
    const queue = openQueue();
    for (let one = 1; one <= 60; one++) queue.changeElsewhere(one, ticket(one, one));
    await queue.find(ticket(30, 30));
    expect(await queue.find(ticket(23, 23))).toEqual({ previous: 22, next: 24 });
    expect(await queue.find(ticket(37, 37))).toEqual({ previous: 36, next: 38 });
    expect(queue.reads).toEqual([8]);
    expect(await queue.find(ticket(id, id))).toEqual(neighbours);
    expect(queue.reads).toEqual([8, 32]);
  });

  test('at the ends of the queue are known, also after those that were there have gone', async () => {
    const queue = openQueue();
    for (let id = 1; id <= 10; id++) queue.changeElsewhere(id, ticket(id, id));
    await queue.find(ticket(5, 5));
    await queue.change(1, undefined);
    await queue.change(10, undefined);
    expect(await queue.find(ticket(2, 2))).toEqual({ previous: undefined, next: 3 });
    expect(await queue.find(ticket(9, 9))).toEqual({ previous: 8, next: undefined });
    expect(queue.reads).toEqual([8]);
  });

  test('lack a change that has failed', async () => {
    const queue = openQueue();
    for (const id of [1, 2]) queue.changeElsewhere(id, ticket(id, id));
    await queue.find(ticket(2, 2));
    const change = { id: 1, version: 2, after: undefined };
    expect(await queue.neighbours.changing(change, async () => false)).toBe(false);
    await expect(
      queue.neighbours.changing(change, async () => {
        throw new Error('no connection');
      }),
    ).rejects.toThrow('no connection');
    expect(await queue.find(ticket(2, 2))).toEqual({ previous: 1, next: undefined });
  });

  test('have a change whose response comes after that of a later one only once', async () => {
    const queue = openQueue();
    for (const id of [1, 2]) queue.changeElsewhere(id, ticket(id, id));
    await queue.find(ticket(2, 2));
    const responds = Promise.withResolvers<boolean>();
    const first = queue.neighbours.changing({ id: 1, version: 2, after: ticket(1, 5) }, () => responds.promise);
    await queue.neighbours.changing({ id: 1, version: 3, after: undefined }, async () => true);
    responds.resolve(true);
    await first;
    expect(await queue.find(ticket(2, 2))).toEqual({ previous: undefined, next: undefined });
  });

  test('never have the ticket itself, wherever it was before', async () => {
    const queue = openQueue();
    for (const id of [1, 2, 3, 4]) queue.changeElsewhere(id, ticket(id, id * 10));
    await queue.find(ticket(3, 30));
    queue.changeElsewhere(3, ticket(3, 15));
    expect(await queue.find(ticket(3, 15))).toEqual({ previous: 1, next: 2 });
    queue.changeElsewhere(3, ticket(3, 35));
    expect(await queue.find(ticket(3, 35))).toEqual({ previous: 2, next: 4 });
  });

  test('are those of the order and the spam tag that the settings have now', async () => {
    const queue = openQueue();
    queue.changeElsewhere(1, ticket(1, 1, { priority: Priority.URGENT, tagIds: [spamTagId] }));
    queue.changeElsewhere(2, ticket(2, 2));
    queue.changeElsewhere(3, ticket(3, 3, { priority: Priority.HIGH }));
    const at = ticket(2, 2);
    expect(await queue.find(at)).toEqual({ previous: 1, next: 3 });
    expect(await queue.find(at, { order: 'priorityOldest', spamTagId: null })).toEqual({
      previous: 3,
      next: undefined,
    });
    expect(await queue.find(at, { order: 'sla', spamTagId })).toEqual({ previous: undefined, next: 3 });
    await queue.change(3, ticket(3, 3, { tagIds: [spamTagId] }));
    expect(await queue.find(at, { order: 'sla', spamTagId })).toEqual({ previous: undefined, next: undefined });
  });

  test('are read with few keys by a quiet process, and seldom by a busy one', async () => {
    const queue = openQueue();
    for (let id = 1; id <= 600; id++) queue.changeElsewhere(id, ticket(id, id));
    await queue.find(ticket(300, 300));
    queue.clock.ms += 60_000;
    await queue.find(ticket(300, 300));
    expect(queue.reads).toEqual([8, 8]);
    queue.reads.length = 0;
    for (let lookup = 0; lookup < 1000; lookup++) {
      queue.clock.ms += 4;
      const id = 1 + ((lookup * 7919) % 600);
      await queue.find(ticket(id, id));
    }
    expect(queue.reads.length).toBeLessThan(40);
    queue.clock.ms += 60_000;
    queue.reads.length = 0;
    await queue.find(ticket(300, 300));
    expect(queue.reads).toEqual([8]);
  });

  // guarantee: R2
  test('keep a bounded number of keys of a long queue', async () => {
    const queue = openQueue();
    let keys = 0;
    const neighbours = queueNeighbours(
      async (_, key, width) => {
        keys += 2 * width + 1;
        const at = Number.parseInt(key.slice(0, 10), 16);
        const keyAt = (dueBy: number) => queueKeys(ticket(dueBy % 2 ** 31, dueBy)).sla;
        const base = at + -62_135_596_800;
        return {
          before: Array.from({ length: width }, (_, index) => keyAt(base - index - 1)),
          after: Array.from({ length: width + 1 }, (_, index) => keyAt(base + index)),
        };
      },
      () => queue.clock.ms,
    );
    for (let lookup = 0; lookup < 2000; lookup++) {
      const id = 10_000 * (lookup + 1);
      expect(await neighbours.find(view, { id, key: queueKeys(ticket(id, id)).sla })).toEqual({
        previous: id - 1,
        next: id + 1,
      });
    }
    expect(keys).toBeLessThan(32_768 + 2000 * 5);
    const before = keys;
    await neighbours.find(view, { id: 20_000_000, key: queueKeys(ticket(20_000_000, 20_000_000)).sla });
    expect(keys).toBe(before + 5);
  });

  test('are waited for together, if many are read at once', async () => {
    const queue = openQueue();
    for (let id = 1; id <= 600; id++) queue.changeElsewhere(id, ticket(id, id));
    for (let lookup = 0; lookup < 60; lookup++) await queue.find(ticket(5, 5));
    queue.clock.ms = 950;
    queue.reads.length = 0;
    const found = await Promise.all([10, 20, 30, 599].map((id) => queue.find(ticket(id, id))));
    expect(found.map(({ next }) => next)).toEqual([11, 21, 31, 600]);
    expect(queue.reads).toEqual([488, 512]);
  });
});

const ids = Array.from({ length: 40 }, (_, index) => index + 1);
const anyId = fc.constantFrom(...ids);
const anyTime = fc.integer({ min: 1, max: 40 });
const changed = { id: anyId, dueBy: anyTime, becomes: fc.constantFrom('open', 'open', 'closed', 'deleted') };
const anyStep = fc.oneof(
  fc.record({ kind: fc.constant('change' as const), ...changed }),
  fc.record({ kind: fc.constant('changeElsewhere' as const), ...changed }),
  fc.record({ kind: fc.constant('find' as const), id: anyId, dueBy: anyTime }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 50, 300, 899, 900, 1001) }),
  ...[1, 2, 3, 4].map(() => fc.record({ kind: fc.constant('continue' as const), index: fc.nat(20) })),
);
type Step = typeof anyStep extends fc.Arbitrary<infer Value> ? Value : never;

const findKey = (one: Queued) => queueKeys(one).sla;

/**
 * Whether an id may be the next one on a side of a position: each ticket may be where it was at any time since `from`, but
 * not where it was before the changes that this process had made to it by then.
 */
function isPossible(
  found: number | undefined,
  { history, from, known }: { history: readonly Stored[]; from: number; known: ReadonlyMap<number, number> },
  { id, key, side }: { id: number; key: string; side: 1 | -1 },
): boolean {
  const placesOf = (one: number) => {
    const versions: Stored[] = [
      { id: one, version: 0, after: undefined, at: Number.NEGATIVE_INFINITY },
      ...history.filter((stored) => stored.id === one),
    ];
    const isRecent = ({ version }: Stored, index: number) =>
      (versions[index + 1]?.at ?? Number.POSITIVE_INFINITY) >= from && version >= (known.get(one) ?? 0);
    return versions.filter(isRecent).map(({ after }) => (after && isQueued(after, view) ? findKey(after) : undefined));
  };
  const isBeyond = (place: string, limit: string) => (side === 1 ? place > limit : place < limit);
  const others = ids.filter((one) => one !== id && one !== found);
  const isFree = (upTo: string | undefined) =>
    others.every((other) =>
      placesOf(other).some(
        (place) => place === undefined || !isBeyond(place, key) || (upTo !== undefined && isBeyond(place, upTo)),
      ),
    );
  if (found === undefined) return isFree(undefined);
  return found !== id && placesOf(found).some((place) => place !== undefined && isBeyond(place, key) && isFree(place));
}

async function runSteps(steps: readonly Step[]): Promise<void> {
  const paused: (() => void)[] = [];
  const queue = openQueue(() => new Promise((resolve) => paused.push(resolve)));
  const operations: Promise<unknown>[] = [];
  for (const id of ids) queue.changeElsewhere(id, ticket(id, id));
  async function checkedFind(at: Queued): Promise<void> {
    const [from, known] = [queue.clock.ms - 900, new Map(queue.acknowledged)];
    const found = await queue.find(at);
    const possible = { history: queue.history, from, known };
    const position = { id: at.id, key: findKey(at) };
    expect(isPossible(found.previous, possible, { ...position, side: -1 }), `previous ${found.previous}`).toBe(true);
    expect(isPossible(found.next, possible, { ...position, side: 1 }), `next ${found.next}`).toBe(true);
  }
  for (const step of steps) {
    if (step.kind === 'wait') queue.clock.ms += step.ms;
    else if (step.kind === 'continue') paused.splice(step.index % (paused.length + 1), 1)[0]?.();
    else if (step.kind === 'find') operations.push(checkedFind(ticket(step.id, step.dueBy)));
    else {
      const status = step.becomes === 'closed' ? TicketStatus.CLOSED : TicketStatus.OPEN;
      const after = step.becomes === 'deleted' ? undefined : ticket(step.id, step.dueBy, { status });
      const done = queue[step.kind](step.id, after);
      if (done) operations.push(done);
    }
    await setImmediate();
  }
  while (paused.length > 0) {
    paused.shift()?.();
    await setImmediate();
  }
  await Promise.all(operations);
}

// guarantee: R1
test('no neighbour is older than a second or than a change of this process, whatever happens meanwhile', async () => {
  await fc.assert(fc.asyncProperty(fc.array(anyStep, { minLength: 10, maxLength: 60 }), runSteps), {
    numRuns: runs(500, 20_000),
  });
});
