import {
  AiSupportLevelSchema,
  Channel,
  ChannelSchema,
  DirectionSchema,
  Priority,
  SpamStatusSchema,
  TicketStatusSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { spellingsOf } from '@ticketing/rest/options.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createdEvent } from '../src/api/ticket-event.ts';
import { orderKeys } from '../src/domain/ticket-keys.ts';
import { documentOf } from '../src/store/ticket-document.ts';
import { initialTicket, type TicketState } from '../src/store/ticket-fields.ts';
import { startHarness, type TicketsHarness } from './harness.ts';
import { type Look, meets, type RawFilter } from './search-oracle.ts';

let tickets: TicketsHarness;
let all: TicketState[];
const now = Math.floor(Date.now() / 1000);
const day = 86_400;

beforeAll(async () => {
  tickets = await startHarness();
  all = fc.sample(ticketArbitrary(), { numRuns: 150, seed: 7 }).map((ticket, index) => ({ ...ticket, id: index + 1 }));
  const documents = all.map((ticket) => documentOf(ticket, createdEvent(ticket, testCaller())));
  await tickets.database.collection('tickets').insertMany(documents as never[]);
  await tickets.database
    .collection<{ _id: string; value: number }>('counters')
    .insertOne({ _id: 'ticket', value: 1000 });
});
afterAll(() => tickets.stop());

const words = ['Zähler', 'strom', 'Rechnung', '100%', 'a.b', '(x)', 'STROM', 'größe', ''];

function ticketArbitrary(): fc.Arbitrary<TicketState> {
  const text = fc.option(fc.constantFrom(...words, 'Zähler strom', 'strom Rechnung'));
  const ids = fc.option(fc.integer({ min: 1, max: 5 }));
  const list = fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 3 });
  const time = fc.option(fc.integer({ min: -3, max: 3 }).map((offset) => now - (now % day) + offset * day));
  const recent = fc.option(fc.constantFrom(now - 10, now - 200, now - 400, now - day));
  const number = (schema: Parameters<typeof spellingsOf>[0]) =>
    fc.constantFrom(...spellingsOf(schema).keys()) as fc.Arbitrary<never>;
  return fc
    .record({
      channel: number(ChannelSchema),
      direction: number(DirectionSchema),
      status: number(TicketStatusSchema),
      aiSupportLevel: number(AiSupportLevelSchema),
      priority: fc.constantFrom(Priority.LOW, Priority.MEDIUM, Priority.HIGH, Priority.URGENT),
      spamStatus: fc.option(number(SpamStatusSchema)),
      subject: text,
      summary: text,
      from: text,
      customerId: fc.option(fc.constantFrom('C1', 'C2')),
      contractId: fc.option(fc.constantFrom('V1', 'V2')),
      externalTicketId: fc.option(fc.constantFrom('E1', 'E2')),
      channelId: text,
      sentiment: text,
      language: fc.option(fc.constantFrom('German', 'english')),
      languageCode: fc.option(fc.constantFrom('de', 'en')),
      agentId: ids,
      subchannelId: ids,
      partnerId: ids,
      createdBy: ids,
      tagIds: list,
      aiAgentIds: list,
      createdAt: time.map((value) => value ?? now),
      modifiedAt: time.map((value) => value ?? now),
      dueBy: time,
      firstResponseDueBy: time,
      lastMessageAt: time,
      lastCustomerMessageAt: recent,
      closedAt: time,
    })
    .map((given) => ({ ...initialTicket, ...given, id: 0 }));
}

const spell = (schema: Parameters<typeof spellingsOf>[0], value: number | null) =>
  value === null ? null : (spellingsOf(schema).get(value) ?? null);

const look: Look = (ticket, key) => {
  const name = key.slice(key.indexOf('.') + 1);
  switch (key) {
    case 'tt.tagId':
      return { kind: 'number', values: [...ticket.tagIds] };
    case 'i.aiAgentId':
      return { kind: 'number', values: [...ticket.aiAgentIds] };
    case 't.priority':
      return { kind: 'rank', values: [ticket.priority] };
    case 't.isCustomerActive':
      return {
        kind: 'boolean',
        values: [ticket.channel === Channel.CHAT && (ticket.lastCustomerMessageAt ?? 0) > now - 300],
      };
    case 't.channel':
      return { kind: 'text', values: [spell(ChannelSchema, ticket.channel)] };
    case 't.direction':
      return { kind: 'text', values: [spell(DirectionSchema, ticket.direction)] };
    case 't.status':
      return { kind: 'text', values: [spell(TicketStatusSchema, ticket.status)] };
    case 't.aiSupportLevel':
      return { kind: 'text', values: [spell(AiSupportLevelSchema, ticket.aiSupportLevel)] };
    case 't.spamStatus':
      return { kind: 'text', values: [spell(SpamStatusSchema, ticket.spamStatus)] };
    default: {
      const value = ticket[name as keyof TicketState] as string | number | null;
      const isTime = /At$|By$/.test(name) && name !== 'createdBy';
      return {
        kind: isTime ? 'time' : typeof value === 'string' || textKeys.has(key) ? 'text' : 'number',
        values: [value],
      };
    }
  }
};

const textKeys = new Set(
  [
    'from',
    'subject',
    'summary',
    'sentiment',
    'language',
    'languageCode',
    'customerId',
    'contractId',
    'externalTicketId',
    'channelId',
  ].map((name) => `t.${name}`),
);
const enumValues: Record<string, string[]> = {
  't.channel': [...spellingsOf(ChannelSchema).values()],
  't.direction': [...spellingsOf(DirectionSchema).values()],
  't.status': [...spellingsOf(TicketStatusSchema).values()],
  't.aiSupportLevel': [...spellingsOf(AiSupportLevelSchema).values()],
  't.spamStatus': [...spellingsOf(SpamStatusSchema).values()],
  't.priority': ['low', 'medium', 'high', 'urgent'],
};
const timeKeys = ['createdAt', 'modifiedAt', 'dueBy', 'firstResponseDueBy', 'lastMessageAt', 'closedAt'].map(
  (name) => `t.${name}`,
);
const numberKeys = ['t.id', 't.agentId', 't.subchannelId', 't.partnerId', 't.createdBy', 'tt.tagId', 'i.aiAgentId'];

function filterArbitrary(): fc.Arbitrary<RawFilter> {
  const dateText = fc.integer({ min: -3, max: 3 }).chain((offset) => {
    const at = new Date((now - (now % day) + offset * day) * 1000).toISOString();
    return fc.constantFrom(at.slice(0, 10), at, `${at.slice(0, 10)} 12:00:00`, Date.parse(at) / 1000);
  });
  const of = (keys: string[], value: (key: string) => fc.Arbitrary<unknown>, comparators: string[]) =>
    fc.constantFrom(...keys).chain((key) => withComparator(key, value(key), comparators));
  const ordered = ['=', 'equal', '!=', '<', '<=', '>', '>=', 'between', 'in', 'not in'];
  const likeText = fc
    .array(fc.constantFrom('%', ...words, 'ÄHL', 'o'), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join(''));
  return fc.oneof(
    of(numberKeys, () => fc.oneof(fc.integer({ min: 0, max: 7 }), fc.constantFrom('1', '3')), ordered),
    of([...textKeys], () => fc.constantFrom(...words, 'C1', 'V2', 'E1', 'de', 'German'), ordered),
    of([...textKeys], () => likeText, ['like']),
    of(Object.keys(enumValues), (key) => fc.constantFrom(...(enumValues[key] ?? [])), ordered),
    of(timeKeys, () => dateText, ordered),
    of(['t.isCustomerActive'], () => fc.boolean(), ['=', '!=', 'in', 'not in']),
  );
}

function withComparator(key: string, value: fc.Arbitrary<unknown>, comparators: string[]): fc.Arbitrary<RawFilter> {
  return fc.constantFrom(...comparators).chain((comparator): fc.Arbitrary<RawFilter> => {
    if (comparator === 'between')
      return fc.record({ key: fc.constant(key), comparator: fc.constant(comparator), from: value, to: value });
    if (comparator === 'in' || comparator === 'not in') {
      const values = fc.array(fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) }), {
        minLength: 1,
        maxLength: 4,
      });
      return fc.record({ key: fc.constant(key), comparator: fc.constant(comparator), values });
    }
    const given =
      comparator === '!='
        ? fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) })
        : value;
    return fc.record({ key: fc.constant(key), comparator: fc.constant(comparator), value: given });
  });
}

async function search(body: object, caller = {}) {
  const answer = await tickets.request('POST', '/ticket/search', { body, caller });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.json));
  return { ids: answer.json.tickets.map((ticket: { id: number }) => ticket.id) as number[], ...answer.json };
}

describe('filters', () => {
  test('find what the rules say, for any filters and tickets', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(filterArbitrary(), { minLength: 1, maxLength: 3 }), async (filters) => {
        const expected = all
          .filter((ticket) => filters.every((filter) => meets(ticket, filter, look)))
          .map(({ id }) => id);
        const found = await search({ filters, limit: 500, orderByDirection: 'asc' });
        expect(found.ids).toEqual(expected);
        expect(found.total).toBe(expected.length);
      }),
      { numRuns: 600 },
    );
  });

  test('find words whatever their case and accents, and all of them', async () => {
    const created = await tickets.request('POST', '/ticket', {
      body: {
        channel: 'portal',
        subject: 'Straße nach Größe',
        body: '<p>Crème brûlée für café@example.com, Çelik</p>',
      },
    });
    for (const value of [
      'strasse',
      'GRÖSSE',
      'creme brulee',
      'cafe@example.com',
      'example.com',
      'celik',
      'straße Çelik',
      String(created.json.id),
    ]) {
      expect((await search({ filters: [{ key: 'q', comparator: '=', value }] })).ids).toContain(created.json.id);
    }
    for (const value of ['strasse fehlt', 'gross', '!!!']) {
      expect((await search({ filters: [{ key: 'q', comparator: '=', value }] })).ids).not.toContain(created.json.id);
    }
    await tickets.database.collection<{ _id: number }>('tickets').deleteOne({ _id: created.json.id });
  });

  test('name each thing that is wrong with them', async () => {
    const filters = [
      { key: 't.colour', comparator: '=', value: 1 },
      { key: 't.status', comparator: '=', value: 'gone' },
      { key: 't.dueBy', comparator: '<', value: '2026-02-30' },
      { key: 't.id', comparator: 'like', value: '1%' },
      { key: 't.id', comparator: '=' },
      { key: 't.subject', comparator: '=', value: 'x'.repeat(513) },
      { key: 't.id', comparator: '=', value: { $gt: 0 } },
      { key: 'q', comparator: 'in', values: ['a'] },
    ];
    const answer = await tickets.request('POST', '/ticket/search', { body: { filters } });
    expect(answer.status).toBe(400);
    expect(answer.json.code).toBe('invalid_filter');
    expect(answer.json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '#/filters/0/key',
      '#/filters/1/value',
      '#/filters/2/value',
      '#/filters/3/comparator',
      '#/filters/4/value',
      '#/filters/5/value',
      '#/filters/6/value',
      '#/filters/7/comparator',
    ]);
  });

  test('are refused beyond their limits', async () => {
    const one = { key: 't.id', comparator: '=', value: 1 };
    const status = async (body: object) => (await tickets.request('POST', '/ticket/search', { body })).status;
    expect(await status({ filters: Array(15).fill(one) })).toBe(200);
    expect(await status({ filters: Array(16).fill(one) })).toBe(400);
    const many = (count: number) => ({
      filters: [{ key: 't.id', comparator: 'in', values: Array.from({ length: count }, (_, id) => id) }],
    });
    expect(await status(many(500))).toBe(200);
    expect(await status(many(501))).toBe(400);
    expect(await status({ filters: [{ key: 't.id', comparator: 'matches', value: 1 }] })).toBe(400);
    for (const [limit, expected] of [
      [0, 400],
      [1, 200],
      [500, 200],
      [501, 400],
    ] as const)
      expect(await status({ limit })).toBe(expected);
    expect(await status({ offset: -1 })).toBe(400);
    expect(await status({ orderByField: 't.body' })).toBe(400);
  });
});

describe('order', () => {
  const naive = (key: string, direction: 1 | -1) => {
    const value = (ticket: TicketState) => {
      const { values } = look(ticket, key);
      const set = values.filter((one) => one !== null) as (number | string)[];
      return set.length === 0 ? null : set.reduce((left, right) => (right < left ? right : left));
    };
    return [...all]
      .sort((left, right) => {
        const [a, b] = [value(left), value(right)];
        if (a === null || b === null) return a === b ? (left.id - right.id) * direction : a === null ? 1 : -1;
        const bytes =
          typeof a === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(String(b))) : Number(a) - Number(b);
        return (bytes || left.id - right.id) * direction;
      })
      .map(({ id }) => id);
  };

  test.each([...orderKeys.keys()].flatMap((key) => [[key, 'asc'] as const, [key, 'desc'] as const]))(
    'by %s %s is total, by offset and by cursor',
    async (orderByField, orderByDirection) => {
      const expected = naive(orderByField, orderByDirection === 'asc' ? 1 : -1);
      const order = { orderByField, orderByDirection };
      const byOffset: number[] = [];
      for (let offset = 0; offset < expected.length; offset += 47)
        byOffset.push(...(await search({ ...order, offset, limit: 47 })).ids);
      expect(byOffset).toEqual(expected);
      const byCursor: number[] = [];
      let cursor: string | null = null;
      do {
        const page: { ids: number[]; total: number; offset: number; nextCursor: string | null } = await search({
          ...order,
          limit: 37,
          ...(cursor ? { cursor } : {}),
        });
        expect(page).toMatchObject({ total: expected.length, offset: byCursor.length });
        byCursor.push(...page.ids);
        cursor = page.nextCursor;
      } while (cursor !== null);
      expect(byCursor).toEqual(expected);
    },
  );

  test('a cursor is good for its own search only', async () => {
    const { nextCursor } = await search({ limit: 5 });
    const status = async (body: object, caller = {}) => {
      const answer = await tickets.request('POST', '/ticket/search', { body, caller });
      return [answer.status, answer.json.code];
    };
    const refused = [400, 'invalid_cursor'];
    expect(await status({ cursor: nextCursor, orderByDirection: 'asc' })).toEqual(refused);
    expect(await status({ cursor: nextCursor, ticketScope: 'skills' })).toEqual(refused);
    expect(await status({ cursor: nextCursor, filters: [{ key: 'id', comparator: '>', value: 1 }] })).toEqual(refused);
    expect(await status({ cursor: `${nextCursor.slice(0, -2)}AA` })).toEqual(refused);
    expect(await status({ cursor: nextCursor, offset: 5 })).toEqual([400, 'not_allowed']);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (cursor) => {
        expect((await status({ cursor }))[0]).toBe(400);
      }),
      { numRuns: 50 },
    );
  });
});
