import { create, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  CreateTicketRequestSchema,
  SearchTicketsRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { crashAtWrite } from '@ticketing/testkit/crash.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import type { RawFilter } from '../../test/naive-filter.ts';
import { newProcess, type Process } from '../../test/new-process.ts';
import { closedAfterMs } from './store/closed-id-store.ts';

let tickets: TicketsHarness;
let database: Database;
/** The addresses of two replicas. */
let urls: [string, string];
let stopReplica: () => Promise<void>;

beforeAll(async () => {
  tickets = await startHarness();
  database = await tickets.openDatabase();
  const replica = await tickets.startInstance();
  stopReplica = () => replica.stop();
  urls = [tickets.url, `http://127.0.0.1:${replica.ports.http}`];
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await database.close();
  await stopReplica();
  await tickets.stop();
});

const statuses = ['open', 'pending', 'closed'] as const;
const agents = [1, 2];

interface StoredDocument {
  _id: number;
  status?: string;
  priority?: number;
  agentId?: number | null;
  tagIds?: number[];
  deletedAt?: Date;
}

type IsCounted = (ticket: StoredDocument) => boolean;

/** Lists, and which stored tickets belong to them. */
const lists: readonly [filters: RawFilter[], isCounted: IsCounted][] = [
  [[], () => true],
  ...statuses.map((value): [RawFilter[], IsCounted] => [
    [{ key: 't.status', comparator: '=', value }],
    ({ status }) => status === value,
  ]),
  [[{ key: 't.status', comparator: '!=', value: 'open' }], ({ status }) => status !== 'open'],
  [[{ key: 't.status', comparator: 'in', values: ['open', 'closed'] }], ({ status }) => status !== 'pending'],
  [[{ key: 't.status', comparator: 'not in', values: ['open', null] }], ({ status }) => status !== 'open'],
  [[{ key: 't.status', comparator: '>', value: 'pending' }], () => false],
  [[{ key: 't.priority', comparator: '<=', value: 'medium' }], ({ priority = 0 }) => priority <= 2],
  [[{ key: 't.agentId', comparator: '=', value: 1 }], ({ agentId }) => agentId === 1],
  [[{ key: 't.agentId', comparator: '!=', value: 1 }], ({ agentId }) => agentId !== 1],
  [[{ key: 't.agentId', comparator: '!=', value: null }], ({ agentId }) => agentId !== null],
  [[{ key: 't.agentId', comparator: 'not in', values: [1, null] }], ({ agentId }) => agentId !== 1 && agentId !== null],
  [[{ key: 't.agentId', comparator: 'in', values: [null] }], ({ agentId }) => agentId === null],
  [[{ key: 't.id', comparator: '>', value: 3 }], ({ _id }) => _id > 3],
  [[{ key: 't.id', comparator: '!=', value: 3 }], ({ _id }) => _id !== 3],
  [[{ key: 'tt.tagId', comparator: 'not in', values: [5] }], () => true],
  [[{ key: 'tt.tagId', comparator: 'in', values: [5, null] }], () => true],
  [[{ key: 'tt.tagId', comparator: '!=', value: null }], () => false],
  [[{ key: 't.isCustomerActive', comparator: '=', value: false }], () => true],
  [
    [
      { key: 't.status', comparator: '=', value: 'open' },
      { key: 't.agentId', comparator: '!=', value: 1 },
    ],
    ({ status, agentId }) => status === 'open' && agentId !== 1,
  ],
];

/** Pages that show the total themselves, and one that is behind the end. */
const pages = [{ limit: 1 }, { limit: 500 }, { limit: 500, offset: 1 }, { limit: 1, offset: 100_000 }];

/**
 * Compares the totals of all lists with the documents that exist: the totals of the replicas, and those of processes
 * that have read the closed ids at some time.
 */
async function checkTotals(processes: readonly Process[]): Promise<void> {
  const documents = await tickets.database.collection<StoredDocument>('tickets').find({}).toArray();
  const existing = documents.filter(({ deletedAt }) => deletedAt === undefined);
  for (const [index, [filters, isCounted]] of lists.entries()) {
    const expected = existing.filter(isCounted).length;
    const body = { ...pages[index % pages.length], filters };
    const { json } = await tickets.request('POST', '/ticket/search', { url: urls[index % 2 === 0 ? 0 : 1], body });
    expect(json.total, JSON.stringify(body)).toBe(expected);
    for (const context of processes) {
      const request = fromJson(SearchTicketsRequestSchema, { limit: 1, filters: filters as unknown as JsonValue });
      const { total } = await context.searchTickets(testCall(), request);
      expect(total, JSON.stringify(filters)).toBe(expected);
    }
  }
}

/** A request that may be sent again, and the ids that were recorded for it. */
interface Repeated {
  subject: string;
  reserved: Map<string, number>;
}

let subjects = 0;

function nextSubject(): string {
  subjects += 1;
  return `S${subjects}`;
}

/** The state of a run: ids of tickets that were created, and requests that have not ended. */
class Run {
  readonly ids: number[] = [];
  readonly frozen: (() => Promise<void>)[] = [];
  readonly repeated: Repeated[] = [];
  readonly processes: Process[] = [];
  minutes = 0;

  async check(): Promise<void> {
    this.processes.push(newProcess(tickets, database));
    await checkTotals(this.processes);
  }

  async create(replica: 0 | 1, body: object): Promise<void> {
    const { json } = await tickets.request('POST', '/ticket', {
      url: urls[replica],
      body: { channel: 'email', ...body },
    });
    this.ids.push(json.id);
  }

  /** A process that has got an id, and inserts the ticket much later. */
  async freeze(isUpsert: boolean): Promise<void> {
    const subject = nextSubject();
    const reached = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const context = newProcess(tickets, database);
    const { insert } = context.tickets;
    context.tickets.insert = async (...parts) => {
      reached.resolve();
      await held.promise;
      return insert(...parts);
    };
    const request = create(CreateTicketRequestSchema, {
      ...{ channel: Channel.EMAIL, subject, ...(isUpsert ? { externalTicketId: subject } : {}) },
    });
    const created = context.createTicket(testCall(), request);
    await reached.promise;
    this.frozen.push(async () => {
      held.resolve();
      this.ids.push((await created).ticket?.id ?? 0);
      expect(await ticketsWith(subject)).toBe(1);
    });
  }

  /** A process that dies while it creates a ticket. The client sends the request again later, maybe. */
  async crash(nth: number): Promise<void> {
    const request = { subject: nextSubject(), reserved: new Map<string, number>() };
    await crashAtWrite(nth, 'before', () => createRepeatedly(request));
    this.repeated.push(request);
  }

  async repeat(): Promise<void> {
    const request = this.repeated.shift();
    if (request === undefined) return;
    await createRepeatedly(request);
    await createRepeatedly(request);
    expect(await ticketsWith(request.subject)).toBe(1);
  }

  /** Two schedulers close ids; the first one may die. */
  async close(minutes: number, nth: number): Promise<void> {
    this.minutes += minutes;
    const now = new Date(Date.now() + this.minutes * 60_000);
    await crashAtWrite(nth, 'before', () => newProcess(tickets, database).closedIds.close(now));
    await Promise.all(
      [newProcess(tickets, database), newProcess(tickets, database)].map(({ closedIds }) => closedIds.close(now)),
    );
  }
}

async function createRepeatedly({ subject, reserved }: Repeated): Promise<void> {
  const reserve = async (name: string, choose: () => Promise<number>) => {
    const id = reserved.get(name) ?? (await choose());
    reserved.set(name, id);
    return id;
  };
  const call = testCall(
    {},
    { idempotency: { id: subject, reserve, reserved: (name) => reserved.get(name), addSubject: () => undefined } },
  );
  const request = create(CreateTicketRequestSchema, { channel: Channel.EMAIL, subject });
  await newProcess(tickets, database).createTicket(call, request);
}

const ticketsWith = (subject: string) => tickets.database.collection('tickets').countDocuments({ subject });

const minutesToClose = closedAfterMs / 60_000;
const replica = fc.constantFrom(0 as const, 1 as const);

interface Step {
  run(run: Run): Promise<unknown>;
  toString(): string;
}

const stepOf = (name: string, run: Step['run']): Step => ({ run, toString: () => name });

/** A request about a ticket that was created before, if there is one. */
function onTicket(nth: number, send: (path: string) => Promise<unknown>): Step['run'] {
  return async ({ ids }) => (ids.length > 0 ? send(`/ticket/${ids[nth % ids.length]}`) : undefined);
}

const anyCreation = fc.record({ status: fc.constantFrom(...statuses), agentId: fc.constantFrom(...agents, null) });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(replica, anyCreation)
    .map(([at, body]) => stepOf(`create ${JSON.stringify(body)}`, (run) => run.create(at, body))),
  fc
    .tuple(replica, fc.nat(3))
    .map(([at, n]) => stepOf(`upsert ${n}`, (run) => run.create(at, { externalTicketId: `E${n}` }))),
  fc.tuple(replica, fc.nat(20), fc.constantFrom(...statuses)).map(([at, n, status]) => {
    const patch = (path: string) => tickets.request('PATCH', path, { url: urls[at], body: { status } });
    return stepOf(`patch ${n} ${status}`, onTicket(n, patch));
  }),
  fc.tuple(replica, fc.nat(20)).map(([at, n]) => {
    const remove = (path: string) => tickets.request('DELETE', path, { url: urls[at], caller: { roleId: 1 } });
    return stepOf(`delete ${n}`, onTicket(n, remove));
  }),
  fc.boolean().map((isUpsert) => stepOf(`freeze, upsert: ${isUpsert}`, (run) => run.freeze(isUpsert))),
  fc.constant(stepOf('thaw', async ({ frozen }) => frozen.shift()?.())),
  fc.integer({ min: 1, max: 4 }).map((nth) => stepOf(`crash at write ${nth}`, (run) => run.crash(nth))),
  fc.constant(stepOf('repeat', (run) => run.repeat())),
  fc
    .tuple(fc.integer({ min: 1, max: minutesToClose + 2 }), fc.integer({ min: 1, max: 4 }))
    .map(([minutes, nth]) => stepOf(`close after ${minutes} minutes, crash ${nth}`, (run) => run.close(minutes, nth))),
);

// spec: 20.14
// guarantee: F18
test('totals are exact whatever was created, changed, deleted, closed or interrupted before, on two replicas', async () => {
  const check = async (steps: readonly Step[]) => {
    const run = new Run();
    for (const step of steps) await step.run(run);
    await run.check();
    // Requests that have not ended end after their ids were closed.
    await run.close(minutesToClose, 1);
    await run.close(minutesToClose, 100);
    for (const thaw of run.frozen.splice(0)) await thaw();
    while (run.repeated.length > 0) await run.repeat();
    await run.check();
  };
  const steps = fc.array(anyStep, { minLength: 5, maxLength: 25 });
  await fc.assert(fc.asyncProperty(steps, check), { numRuns: runs(2, 40) });
});
