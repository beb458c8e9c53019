import { isDeep, runs } from '@ticketing/testkit/search-effort.ts';
import mongoose from 'mongoose';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { service } from '../src/service.ts';
import { defaultSettings } from '../src/settings.ts';
import { routingOrders } from '../src/ticket/rules/queue-keys.ts';
import { wordsRules } from '../src/ticket/rules/search-words.ts';
import { closedAfterMs, closedIdStore } from '../src/ticket/store/closed-id-store.ts';
import { openTickets, ticketIndexes } from '../src/ticket/store/schema.ts';
import { isOutdated } from '../src/ticket/store/store.ts';
import type { RawFilter } from './naive-filter.ts';
import { type SearchHarness, startSearch } from './naive-request.ts';
import { insertTickets, type NaiveTicket, randomTickets, spellings } from './naive-ticket.ts';

const count = runs(2_000, 20_000);
const limit = 10;

let tickets: SearchHarness;
const settings = { ...defaultSettings };

beforeAll(async () => {
  // The output of explain differs between servers.
  if (process.env.MONGODB_URI) return;
  tickets = await startSearch({ settings: async () => settings });
  // Building the indexes after the inserts is faster than maintaining them meanwhile.
  await tickets.database.collection('tickets').dropIndexes();
  const [template] = randomTickets(1, 1);
  if (!template) throw new Error('no ticket was drawn');
  for (let first = 1; first <= count; first += 2000) {
    await insertTickets(
      tickets,
      Array.from({ length: 2000 }, (_, index) => generated(first + index, template)),
    );
  }
  await service.setUp(tickets.environment);
  await closeIds();
});
afterEach(() => {
  mongoose.set('debug', false);
});
afterAll(() => tickets?.stop());

/** Closes the ids of the tickets, as a scheduler does ten minutes after they were created. */
async function closeIds(): Promise<void> {
  const { connection, close } = await tickets.openDatabase();
  const collection = openTickets(connection);
  for (const now of [0, closedAfterMs]) await closedIdStore(connection, collection).close(new Date(now));
  await close();
}

/** A ticket, the same in every run: a tenth of all are open, a third have no times; agents and customers have many each. */
function generated(id: number, template: NaiveTicket): NaiveTicket {
  const spread = (salt: number, below: number) => ((id * 7919 + salt * 104_729) % 1_000_003) % below;
  const orNull = <Value>(salt: number, value: Value) => (spread(salt, 3) === 0 ? null : value);
  const time = (salt: number) => 1_700_000_000 + spread(salt, 1_000_000);
  return {
    ...template,
    id,
    channel: spellings.channel[spread(1, 7)] ?? 'email',
    status: spread(2, 10) === 0 ? 'open' : spread(2, 10) === 1 ? 'pending' : 'closed',
    priority: spread(3, 20) === 0 ? 'urgent' : (spellings.priority[spread(3, 3)] ?? 'low'),
    subject: `word${spread(4, 100)} common rare${spread(5, 5000)}`,
    summary: null,
    bodyPlain: null,
    agentId: orNull(6, 1 + spread(7, 50)),
    customerId: orNull(8, `C${spread(9, 4000)}`),
    contractId: orNull(10, `V${spread(11, 5000)}`),
    subchannelId: orNull(12, 1 + spread(13, 20)),
    externalTicketId: `EXT-${id}`,
    createdAt: time(14),
    modifiedAt: time(15),
    dueBy: orNull(16, time(17)),
    firstResponseDueBy: orNull(18, time(19)),
    lastMessageAt: orNull(20, time(21)),
    lastCustomerMessageAt: orNull(22, time(23)),
    tagIds: Array.from({ length: spread(24, 4) }, (_, index) => 1 + index * 20 + spread(25 + index, 20)),
    aiAgentIds: [],
  };
}

interface Plan {
  stages: string[];
  indexes: string[];
  keys: number;
  docs: number;
  returned: number;
}

interface Command {
  collection: string;
  operation: string;
  filter: object;
  options: mongoose.mongo.FindOptions;
}

/** Searches, and explains the operations on the collection of tickets that the search used. */
async function explained(body: object): Promise<{ finds: Plan[]; total: Plan[]; cursor: string | null }> {
  const commands: Command[] = [];
  mongoose.set('debug', (collection: string, operation: string, filter: object, options: object) => {
    commands.push({ collection, operation, filter, options });
  });
  const { nextCursor } = await tickets.search({ limit, ...body });
  mongoose.set('debug', false);
  const collection = tickets.database.collection('tickets');
  const onTickets = commands.filter((command) => command.collection === 'tickets');
  const finds: Plan[] = [];
  for (const { filter, options } of onTickets.filter(({ operation }) => operation === 'find')) {
    finds.push(planOf(await collection.find(filter, { ...options, raw: false }).explain('executionStats')));
  }
  const counted = onTickets.find(({ operation }) => operation === 'aggregate')?.filter as Stage[] | undefined;
  const total: Plan[] = [];
  for (const pipeline of counted ? partsOf(counted) : []) {
    total.push(planOf(await collection.aggregate(pipeline).explain('executionStats')));
  }
  return { finds, total, cursor: nextCursor };
}

type Stage = Record<string, { pipeline?: Stage[] }>;

/** The counts of which a total is made; explain has no figures for those that are added by $unionWith. */
function partsOf([match, count, ...unions]: Stage[]): Stage[][] {
  return [
    [match, count].filter((stage) => stage !== undefined),
    ...unions.map(({ $unionWith }) => $unionWith?.pipeline ?? []),
  ];
}

/** Reads the queue, and explains the operations that this used. */
async function explainedQueue(body: object): Promise<Plan[]> {
  const commands: Command[] = [];
  mongoose.set('debug', (collection: string, operation: string, filter: object, options: object) => {
    commands.push({ collection, operation, filter, options });
  });
  await tickets.request('POST', '/ticket/getLatest', { body });
  mongoose.set('debug', false);
  const lookUps = commands.filter(({ filter }) => 'queueGroup' in filter);
  const explain = ({ filter, options }: Command) =>
    tickets.database.collection('tickets').find(filter, options).limit(1).explain('executionStats');
  return Promise.all(lookUps.map(async (command) => planOf(await explain(command))));
}

function planOf(explanation: mongoose.mongo.Document): Plan {
  const { queryPlanner, executionStats } = explanation.stages?.[0].$cursor ?? explanation;
  const plan: Plan = {
    stages: [],
    indexes: [],
    keys: executionStats.totalKeysExamined,
    docs: executionStats.totalDocsExamined,
    returned: executionStats.nReturned,
  };
  const walk = (stage: mongoose.mongo.Document) => {
    plan.stages.push(stage.stage);
    if (stage.keyPattern) plan.indexes.push(Object.keys(stage.keyPattern).join(', '));
    for (const inner of [stage.inputStage, ...(stage.inputStages ?? [])]) if (inner) walk(inner);
  };
  walk(queryPlanner.winningPlan);
  return plan;
}

const byId = 't.id';
const one = (key: string, value: unknown): RawFilter[] => [{ key, comparator: '=', value }];

/** Chosen so that more tickets are overdue than the query planner reads when it compares plans. */
const overdueAt = 1_700_000_000 + 200_000_000 / count;

/** Matches several words, so that its tickets are read and sorted. */
const beginning = 'the beginning of a word';

/** A word may be in the ticket itself, in a message, or in a note. */
const wordIndexes = ['words, _id', 'messageWords, _id', 'noteWords, _id'];

/** Frequent lists: filters, order, and the index that must be used. */
const lists: readonly [name: string, filters: RawFilter[], orderByField: string, index: string][] = [
  ['all', [], byId, '_id'],
  ['all', [], 't.createdAt', 'createdAt, _id'],
  ['all', [], 't.modifiedAt', 'modifiedAt, _id'],
  ['all', [], 't.dueBy', 'dueBy, _id'],
  ['all', [], 't.firstResponseDueBy', 'firstResponseDueBy, _id'],
  ['all', [], 't.lastMessageAt', 'lastMessageAt, _id'],
  ['all', [], 't.lastCustomerMessageAt', 'lastCustomerMessageAt, _id'],
  ['all', [], 't.status', 'status, _id'],
  ['all', [], 't.priority', 'priority, _id'],
  ['all', [], 't.agentId', 'agentId, _id'],
  ['all', [], 't.customerId', 'customerId, _id'],
  ['all', [], 't.contractId', 'contractId, _id'],
  ['all', [], 't.subchannelId', 'subchannelId, _id'],
  ['all', [], 'tt.tagId', 'minTagId, _id'],
  ['a status, few', one('t.status', 'open'), byId, 'status, _id'],
  ['a status, many', one('t.status', 'closed'), byId, 'status, _id'],
  ['a status, few', one('t.status', 'open'), 't.createdAt', 'status, createdAt, _id'],
  ['a status, many', one('t.status', 'closed'), 't.createdAt', 'status, createdAt, _id'],
  [
    'two statuses',
    [{ key: 't.status', comparator: 'in', values: ['open', 'pending'] }],
    't.createdAt',
    'status, createdAt, _id',
  ],
  ['a priority', one('t.priority', 'urgent'), byId, 'priority, _id'],
  ['an agent', one('t.agentId', 7), byId, 'agentId, _id'],
  ['no agent', [{ key: 't.agentId', comparator: 'in', values: [null] }], byId, 'agentId, _id'],
  ['a customer', one('t.customerId', 'C7'), byId, 'customerId, _id'],
  ['a contract', one('t.contractId', 'V7'), byId, 'contractId, _id'],
  ['a mailbox', one('t.subchannelId', 3), byId, 'subchannelId, _id'],
  ['an external id', one('t.externalTicketId', 'EXT-70'), byId, 'externalTicketId, _id'],
  ['a tag', one('tt.tagId', 3), byId, 'tagIds, _id'],
  [beginning, one('q', 'word70'), byId, wordIndexes.join('}, {')],
  [
    'a range of creation',
    [{ key: 't.createdAt', comparator: 'between', from: 1_700_100_000, to: 1_700_110_000 }],
    't.createdAt',
    'createdAt, _id',
  ],
  ['overdue', [{ key: 't.dueBy', comparator: '<', value: overdueAt }], 't.dueBy', 'dueBy, _id'],
];

const rows: string[] = [];
const queueRows: string[] = [];

describe.skipIf(process.env.MONGODB_URI)('the index of every list', () => {
  test.each(lists.flatMap((list) => [[...list, 'asc'] as const, [...list, 'desc'] as const]))(
    'of %s %j by %s is {%s}, %s, on the first page and after a cursor',
    async (name, filters, orderByField, index, orderByDirection) => {
      const body = { filters, orderByField, orderByDirection };
      const first = await explained(body);
      const second = first.cursor ? await explained({ ...body, cursor: first.cursor }) : { finds: [] };
      for (const plan of [...first.finds, ...second.finds]) {
        expect(plan.stages).toContain('IXSCAN');
        expect(plan.stages).not.toContain('COLLSCAN');
        if (name === beginning) continue;
        expect(plan.stages).not.toContain('SORT');
        // At most one key is read without being returned: the one that ends the range.
        expect(plan.docs).toBe(plan.returned);
        expect(plan.keys - plan.returned).toBeLessThanOrEqual(1);
      }
      for (const plans of [first.finds, second.finds.filter(({ returned }) => returned > 0)]) {
        const used = name === beginning ? wordIndexes : [index];
        expect(new Set(plans.flatMap(({ indexes }) => indexes))).toEqual(new Set(plans.length > 0 ? used : []));
      }
      for (const plan of first.total) {
        expect(plan.docs).toBe(0);
        expect(plan.stages).not.toContain('COLLSCAN');
      }
      addRow(name, orderByField, orderByDirection, index, first.finds, second.finds, first.total);
    },
  );

  test('costs next to nothing for the total of all tickets, and of a status that most of them have', async () => {
    const keys = (plans: readonly Plan[]) => plans.reduce((sum, plan) => sum + plan.keys, 0);
    const all = await explained({});
    expect(all.total).toHaveLength(2);
    expect(keys(all.total)).toBeLessThanOrEqual(2);
    const filters = one('t.status', 'closed');
    // The first count shows how many there are.
    await explained({ filters });
    const closed = await explained({ filters });
    expect(closed.total.flatMap(({ stages }) => stages)).not.toContain('IXSCAN');
    expect(closed.total.map(({ docs }) => docs)).toEqual([0, 0, 0, 0]);
    expect(keys(closed.total)).toBeLessThan(count / 2);
    const { total } = await tickets.search({ filters, limit });
    expect(total).toBe(await tickets.database.collection('tickets').countDocuments({ status: 'closed' }));
  });

  test('is not read for the total of a list that ends on the page', async () => {
    const filters = [{ key: 't.id', comparator: '<=', value: limit }];
    expect((await explained({ filters })).total).toEqual([]);
    expect((await explained({ filters, offset: limit - 1 })).total).toEqual([]);
    expect((await explained({ filters, offset: limit })).total).not.toEqual([]);
    expect((await explained({ filters: [{ key: 't.id', comparator: '<=', value: limit + 1 }] })).total).not.toEqual([]);
  });

  test.each(routingOrders)(
    'of the queue in order %s has its own index, from the start and on both sides of a ticket',
    async (order) => {
      settings.routingOrder = order;
      const { json } = await tickets.request('POST', '/ticket/getLatest', { body: {} });
      const plans = await explainedQueue({ preferredDirection: 'next', ticketId: json.earliest });
      expect(plans).toHaveLength(3);
      for (const plan of plans) {
        expect(plan.indexes).toEqual([`queueGroup, queueKeys.${order}`]);
        expect(plan.stages).not.toContain('SORT');
        expect(plan.docs).toBe(0);
        expect(plan.keys - plan.returned).toBeLessThanOrEqual(1);
      }
      const sum = (part: 'keys' | 'docs' | 'returned') => plans.reduce((before, plan) => before + plan[part], 0);
      queueRows.push(
        `| ${order} | {queueGroup, queueKeys.${order}} | ${sum('keys')}/${sum('docs')}/${sum('returned')} |`,
      );
    },
  );

  test('of due tickets, which the scheduler reads, has its own index', async () => {
    const due = { status: 'pending', dueBy: { $lte: new Date(1_700_010_000_000) } };
    const deleted = { notErasedBy: 'tickets' };
    const collection = tickets.database.collection('tickets');
    const plan = planOf(await collection.find(due).sort({ dueBy: 1 }).limit(10).explain('executionStats'));
    expect([plan.indexes, plan.docs]).toEqual([['status, dueBy'], plan.returned]);
    expect(planOf(await collection.find(deleted).sort({ deletedAt: 1 }).explain('executionStats'))).toMatchObject({
      indexes: ['notErasedBy, deletedAt'],
      docs: 0,
    });
  });

  test('of tickets whose words are outdated, which the scheduler reads, has its own index', async () => {
    const collection = tickets.database.collection<{ _id: number }>('tickets');
    await collection.updateOne({ _id: 3 }, { $set: { wordsRules: -1 } });
    const plan = planOf(await collection.find(isOutdated).sort({ _id: 1 }).limit(10).explain('executionStats'));
    expect([new Set(plan.indexes), plan.docs, plan.returned]).toEqual([new Set(['wordsRules']), 1, 1]);
    await collection.updateOne({ _id: 3 }, { $set: { wordsRules } });
  });

  test('of unsent events, which the relay reads, has its own index', async () => {
    const collection = tickets.database.collection('tickets');
    const waiting = { outboxSince: { $exists: true }, 'unsent.retryAt': { $not: { $gt: new Date() } } };
    const find = collection.find({
      ...waiting,
      $or: [{ _id: { $mod: [16, 3] } }, { _id: { $mod: [16, 4] } }],
    } as object);
    expect(planOf(await find.sort({ outboxSince: 1 }).limit(10).explain('executionStats')).indexes).toEqual([
      'outboxSince',
    ]);
  });

  test('exists, and there is no index without a list', () => {
    const used = new Set([
      ...lists.flatMap(([name, , , index]) => (name === beginning ? wordIndexes : [index])),
      ...routingOrders.map((order) => `queueGroup, queueKeys.${order}`),
      ...['status, dueBy', 'outboxSince', 'notErasedBy, deletedAt', 'wordsRules'],
      // Histories: history.int.test.ts.
      ...['customerId, createdAt, _id, status', 'contractId, createdAt, _id, status'],
    ]);
    const kept = ticketIndexes.map(({ index }) => Object.keys(index).join(', '));
    expect(used).toEqual(new Set(['_id', ...kept]));
  });

  test.runIf(isDeep)('equals docs/services/tickets-indexes.md', async () => {
    await expect(
      [...introduction, ...rows, ...queueIntroduction, ...queueRows, ...historyText, ''].join('\n'),
    ).toMatchFileSnapshot('../../../docs/services/tickets-indexes.md');
  });
});

/** Adds a list to the table. Both directions share a row if they read the same. */
function addRow(
  name: string,
  orderByField: string,
  orderByDirection: string,
  index: string,
  first: readonly Plan[],
  second: readonly Plan[],
  total: readonly Plan[],
): void {
  const sum = (plans: readonly Plan[]) => {
    const of = (part: 'keys' | 'docs' | 'returned') => plans.reduce((before, plan) => before + plan[part], 0);
    return plans.length === 0 ? '–' : `${of('keys')}/${of('docs')}/${of('returned')}`;
  };
  const renderRow = (direction: string) =>
    `| ${[name, `${orderByField} ${direction}`, `{${index}}`, sum(first), sum(second), sum(total)].join(' | ')} |`;
  const isSame = orderByDirection === 'desc' && rows.at(-1) === renderRow('asc');
  if (isSame) rows[rows.length - 1] = renderRow('asc, desc');
  else rows.push(renderRow(orderByDirection));
}

const historyText = [
  '',
  'Histories: the indexes {customerId, createdAt, _id, status} and {contractId, createdAt, _id, status} have all that counts',
  'and pages need (`services/tickets/src/history/history.int.test.ts`). Recorded entries have the same, without status.',
];

const introduction = [
  '# Which index reads which list of tickets',
  '',
  `Keys examined/documents examined/returned, among ${count.toLocaleString('en')} tickets, for a page of ${limit} (one`,
  'more is read) and for its total. `services/tickets/test/search-index.int.test.ts` measures it on the embedded engine and',
  'fails if a list sorts in memory or reads documents that it does not return, except for the beginning of a word. `npm test -- --mode searches search-index -u` updates it.',
  '',
  '| Filter | Order | Index | First page | After its cursor | Total |',
  '|---|---|---|---|---|---|',
];

const queueIntroduction = [
  '',
  'The queue: the first ticket, and those before and after a position.',
  '',
  '| Order | Index | First, before and after |',
  '|---|---|---|',
];
