import { golden } from '@ticketing/testkit/golden.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

let tickets: TicketsHarness;
let tagId: number;

beforeAll(async () => {
  tickets = await startHarness();
  tagId = (await tickets.request('POST', '/tag', { caller: { roleId: 1 }, body: { name: 'Zähler' } })).json.id;
});
afterAll(() => tickets.stop());

const bulk = (body: object, query = '', headers: Record<string, string> = {}) =>
  tickets.request('POST', `/ticket/bulk${query}`, { body, headers });
const each = (elements: readonly object[]) => bulk({ mode: 'each', tickets: elements });
const get = async (id: number) => (await tickets.request('GET', `/ticket/${id}?includeRawData=true`)).json;
const messagesOf = async (id: number) =>
  (await tickets.request('GET', `/ticket/${id}/conversation`)).json.conversations as object[];
/** The stored ticket and its stored messages. */
async function documentsOf(ticketId: number): Promise<object[]> {
  const {
    words,
    queueKeys: _,
    appliedRequests: __,
    conversationIds,
    outbox,
    ...ticket
  } = await tickets.documentOf(ticketId);
  const messages = tickets.database.collection('conversations').find({ ticketId }).sort({ _id: 1 });
  return [
    { ...ticket, words: words.filter((word: string) => word !== `${ticketId}`), messages: conversationIds.length },
    ...outbox.map((event: { cause: string }) => ({
      ...event,
      cause: event.cause === 'import' ? 'request' : event.cause,
    })),
    ...(await messages.toArray()),
  ];
}
const count = (collection: string) => tickets.database.collection(collection).countDocuments();
const base64 = Buffer.from('Zählerstand').toString('base64');
const answer = (message: string, more: object = {}) => ({
  direction: 'out',
  content: { message, type: 'text' },
  ...more,
});

/** Elements of many kinds. Their messages have times of their own: two without one may be of the same second. */
const kinds = (name: string): Record<string, unknown>[] => [
  { channel: 'email' },
  {
    ...{ channel: 'email', subject: 'Umzug', body: '<p>Guten Tag</p>', from: 'ada@example.org', fromName: 'Ada' },
    ...{ priority: 'high', status: 'closed', createdAt: '2020-01-31 10:00:00', tags: [tagId] },
    ...{ externalTicketId: `${name}-1`, rawData: { queue: 'a' }, workitem: { b: [1, null] }, contractId: 'V-1' },
    attachments: [{ name: 'stand.txt', base64 }],
    messages: [
      answer('Wir kümmern uns.', { createdAt: '2020-01-31 11:00:00', to: ['ada@example.org'] }),
      {
        ...{ direction: 'in', from: 'ada@example.org', createdAt: '2020-01-31 12:00:00' },
        content: { message: '<b>Danke</b>', type: 'html' },
      },
      {
        ...{ direction: 'internal', private: true, createdAt: '2020-01-31 13:00:00' },
        content: { message: 'Erledigt', type: 'text' },
      },
      answer('Mit Datei', {
        createdAt: '2020-01-31 14:00:00',
        attachments: [{ name: 'antwort.txt', base64 }],
        externalConversationId: `${name}-m`,
      }),
    ],
  },
  { channel: 'phone', callerNumber: '+49 30 1234567', body: 'Rückruf' },
  { channel: 'chat', channelId: name, direction: 'out', body: 'Hallo', agentId: 7 },
];

/** A value without what differs from request to request: ids, the present, and the name of the request. */
function comparable(value: unknown, names: readonly string[]): unknown {
  const passing =
    /^(_id|id|key|url|eventId|at|conversationId|openingMessageId|ticketId|occurredAt|prevTicketId|nextTicketId|traceparent)$/;
  const isNow = (one: unknown) =>
    typeof one === 'number'
      ? one >= Date.parse('2021-01-01') / 1000
      : typeof one === 'string' && /^20\d\d-.*:\d\d/.test(one) && !one.startsWith('2020-');
  const text = JSON.stringify(value, (key, one) => {
    if (passing.test(key)) return undefined;
    return isNow(one) ? 'now' : one;
  });
  return JSON.parse(names.reduce((changed, name) => changed.replaceAll(name, 'NAME'), text));
}

describe('POST /ticket/bulk', () => {
  // guarantee: F42
  test('creates the same tickets, messages and events as a request for each of them', async () => {
    const names = ['bulk', 'single'];
    const one = async ({ messages = [], ...ticket }: Record<string, unknown>): Promise<number> => {
      const { id } = (await tickets.request('POST', '/ticket', { body: { send: false, ...ticket } })).json;
      for (const body of messages as object[]) {
        expect((await tickets.request('POST', `/ticket/${id}/conversation/store`, { body })).status).toBe(201);
      }
      return id;
    };
    const singles: number[] = [];
    for (const element of kinds('single')) singles.push(await one(element));
    const { status, json } = await bulk({ tickets: kinds('bulk') });
    expect([status, json.success]).toEqual([200, true]);
    expect(json.results.every(({ success, error }: { success: boolean; error: unknown }) => success && !error)).toBe(
      true,
    );
    for (const [nth, single] of singles.entries()) {
      const { id } = json.results[nth];
      for (const read of [get, messagesOf, documentsOf]) {
        expect(comparable(await read(id), names)).toEqual(comparable(await read(single), names));
      }
    }
  });

  test('says in the events of the tickets that they are imported', async () => {
    const [{ id }] = (await bulk({ tickets: [kinds('events')[1] ?? {}] })).json.results;
    const { outbox } = await tickets.documentOf(id);
    const causes = outbox.map(({ type, cause }: Record<string, string>) => `${type} ${cause}`);
    expect(causes.slice(0, 2)).toEqual(['ticket.created import', 'conversation.created request']);
  });

  test('sends nothing, and starts an analysis only as process says', async () => {
    const [mail] = (
      await bulk({ tickets: [{ channel: 'email', direction: 'out', body: 'Hallo', to: ['a@example.org'] }] })
    ).json.results;
    const conversations = await messagesOf(mail.id);
    expect(conversations).toEqual([expect.objectContaining({ deliveryStatus: 'none' })]);
    for (const process of ['batch', 'false']) {
      const [result] = (await bulk({ tickets: [{ channel: 'chat' }] }, `?process=${process}`)).json.results;
      expect((await tickets.documentOf(result.id)).process).toBe(process);
    }
    expect(violationsOf(await bulk({ tickets: [{ channel: 'chat' }] }, '?process=realtime'))).toEqual([
      '#/query/process not_allowed',
    ]);
  });
});

/** Elements of which only the first and the last are valid. */
const partlyInvalid = (name: string) => [
  { channel: 'chat', externalTicketId: name },
  { channel: 'chat', tags: [999_999] },
  { channel: 'email', from: 'nobody' },
  { channel: 'chat', attachments: [{ name: 'a', url: 'https://example.org/a' }] },
  { channel: 'chat', attachments: [{ base64: 'no' }] },
  { channel: 'chat', externalTicketId: name },
  { channel: 'chat', messages: [answer('x'), answer('x', { private: true, intentIds: [5] })] },
  { channel: 'chat', messages: [answer('x', { attachments: [{ base64 }, { base64: '?' }] })] },
  { channel: 'chat', subject: 'Zähler', attachments: [{ base64 }] },
];

describe('mode', () => {
  test('all: if anything is not valid, nothing is stored, and each violation has its place', async () => {
    const before = await Promise.all(['tickets', 'conversations', 'files', 'externalIds', 'creations'].map(count));
    const refused = await bulk({ mode: 'all', tickets: partlyInvalid('all') });
    expect(refused.status).toBe(400);
    expect(violationsOf(refused)).toEqual([
      '#/tickets/1/tags/0 unknown_tag',
      '#/tickets/2/from invalid_format',
      '#/tickets/3/attachments/0/url not_allowed',
      '#/tickets/4/attachments/0/base64 invalid_attachment',
      '#/tickets/5/externalTicketId duplicate_ticket',
      '#/tickets/6/messages/1/intentIds/0 unknown_intent',
      '#/tickets/6/messages/1/private not_allowed',
      '#/tickets/7/messages/0/attachments/1/base64 invalid_attachment',
    ]);
    expect(await Promise.all(['tickets', 'conversations', 'files', 'externalIds', 'creations'].map(count))).toEqual(
      before,
    );
  });

  test('each: stores what is valid, and says of each other ticket why it is not', async () => {
    const { status, json } = await each(partlyInvalid('each'));
    expect(status).toBe(200);
    const stored = json.results.filter(({ success }: { success: boolean }) => success);
    expect(json.results.map(({ success }: { success: boolean }) => success)).toEqual([
      ...[true, false, false, false, false, false, false, false, true],
    ]);
    expect(await get(stored[1].id)).toMatchObject({ subject: 'Zähler', attachments: [{ size: 12 }] });
    const shown = json.results.map((result: { id: number | null }) => ({ ...result, id: result.id && '<id>' }));
    await golden('create', { ...json, results: shown });
  });

  test('each: if nothing is valid, nothing is recorded', async () => {
    const before = await count('creations');
    const { json } = await each([{ channel: 'chat', tags: [999_999] }]);
    expect(json.results).toMatchObject([{ success: false, id: null, error: { code: 'unknown_tag' } }]);
    expect(await count('creations')).toBe(before);
  });

  test('a part of the contract that is not kept refuses the request in either mode', async () => {
    for (const mode of ['all', 'each']) {
      const refused = await bulk({ mode, tickets: [{ channel: 'chat' }, { subject: 'x', templateId: 3 }] });
      expect(violationsOf(refused)).toEqual(['#/tickets/1/channel required', '#/tickets/1/templateId unknown_field']);
    }
  });
});

describe('externalTicketId', () => {
  test('updates a ticket that has it, and a message with a known external id is left out', async () => {
    const element = {
      ...{ channel: 'chat', externalTicketId: 'again', subject: 'Eins' },
      messages: [answer('Antwort', { externalConversationId: 'again-m' })],
    };
    const [first] = (await bulk({ tickets: [element] })).json.results;
    const [second] = (await bulk({ tickets: [{ ...element, subject: 'Zwei' }] })).json.results;
    expect(second).toEqual(first);
    expect(await get(first.id)).toMatchObject({ subject: 'Zwei', version: 3 });
    expect(await messagesOf(first.id)).toHaveLength(1);
  });

  test('of several bulks at once: each ticket is there once', async () => {
    const elements = Array.from({ length: 20 }, (_, nth) => ({
      ...{
        channel: 'chat',
        externalTicketId: `once-${nth}`,
        messages: [answer('x', { externalConversationId: `o-${nth}` })],
      },
    }));
    const responses = await Promise.all([1, 2, 3].map(() => bulk({ tickets: elements })));
    const ids = responses.map(({ json }) => json.results.map(({ id }: { id: number }) => id));
    expect(ids[1]).toEqual(ids[0]);
    expect(ids[2]).toEqual(ids[0]);
    expect(new Set(ids[0]).size).toBe(20);
    for (const id of ids[0]) expect(await messagesOf(id)).toHaveLength(1);
  });
});

test('a repeated Idempotency-Key gets the same response, and nothing is stored again', async () => {
  const body = { mode: 'each', tickets: [{ channel: 'chat' }, { channel: 'chat', tags: [999_999] }] };
  const first = await bulk(body, '', { 'idempotency-key': 'bulk-1' });
  const before = await count('tickets');
  const second = await bulk(body, '', { 'idempotency-key': 'bulk-1' });
  expect(second.json).toEqual(first.json);
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect(await count('tickets')).toBe(before);
});

describe('limits', () => {
  test('1 to 500 tickets, 1,000 messages and 200 files together, 20 messages of a ticket', async () => {
    const many = (length: number, element: object = {}) =>
      Array.from({ length }, () => ({ channel: 'chat', ...element }));
    const files = Array.from({ length: 20 }, () => ({ base64 }));
    const messages = (length: number) => Array.from({ length }, () => answer('x'));
    expect(violationsOf(await each([]))).toEqual(['#/tickets too_few_items']);
    expect(violationsOf(await each(many(501)))).toEqual(['#/tickets too_many_items']);
    expect(violationsOf(await each(many(1, { messages: messages(21) })))).toEqual([
      '#/tickets/0/messages too_many_items',
    ]);
    expect(violationsOf(await each(many(51, { messages: messages(20) })))).toEqual(['#/tickets too_many_items']);
    expect(violationsOf(await each(many(11, { attachments: files })))).toEqual(['#/tickets too_many_items']);
    const { json } = await each(many(500));
    expect(json.results.filter(({ success }: { success: boolean }) => success)).toHaveLength(500);
  });

  test('a ticket has at most 12 MiB apart from files', async () => {
    const long = 'x'.repeat(5 * 1024 * 1024);
    const incoming = { direction: 'in', content: { message: long, type: 'text' } };
    const { json } = await each([{ channel: 'chat', body: long, messages: [incoming, incoming] }]);
    expect(json.results).toMatchObject([{ success: false, error: { code: 'element_too_large' } }]);
  });

  test('the request counts as one for each of its tickets', async () => {
    expect((await each([{ channel: 'chat' }, { channel: 'chat' }])).headers.get('ratelimit-cost')).toBe('2');
  });
});

test('of a request that is finished only its response is left', async () => {
  await bulk({ tickets: [{ channel: 'chat', subject: 'Zähler' }] });
  expect(await count('creationRows')).toBe(0);
  const finished = await tickets.database
    .collection('creations')
    .find({ finishedAt: { $ne: null } })
    .toArray();
  expect(finished.map(({ caller, reserved, lease }) => ({ caller, reserved, lease }))).toEqual(
    finished.map(() => ({ caller: '', reserved: {}, lease: null })),
  );
});
