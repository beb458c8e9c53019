import { createHash } from 'node:crypto';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import type { StubServer } from '@ticketing/testkit/stub-server.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../../test/harness.ts';
import { serveTemplates, TemplatesModel, wrapped } from '../../../test/stub-templates.ts';
import { defaultSettings } from '../../settings.ts';

const model = new TemplatesModel();
let stub: StubServer;
let tickets: TicketsHarness;
let tagId: number;

const mailbox = {
  enabled: true,
  interface: 'imap',
  channel: Channel.EMAIL,
  name: 'Desk',
  address: 'desk@shop.example',
  emailTemplateId: 11,
};
const greeting = 1;
const long = 2;

beforeAll(async () => {
  stub = await serveTemplates(model);
  tickets = await startHarness({
    calledPorts: { grpc: stub.port },
    settings: async () => ({ ...defaultSettings, subchannels: new Map([[1, mailbox]]) }),
  });
  model.templates.set(greeting, {
    message: ({ ticket, customer, in: data }) =>
      `<p>${customer?.lastname ?? 'Nobody'}, ${ticket.subject ?? 'no subject'}, ${data.meter ?? 'no meter'}</p>`,
    subject: ({ ticket }) => `Ticket ${ticket.id}\r\n of ${ticket.customer?.lastname ?? 'nobody'} `,
  });
  model.wrappers.set(11, '<p>Ours</p>%MESSAGE%');
  model.templates.set(long, { message: () => `<p>${'x'.repeat(1024 * 1024 - 7)}</p>` });
  const admin = { roleId: 1 };
  tagId = (await tickets.request('POST', '/tag', { caller: admin, body: { name: 'Meter' } })).json.id;
  const customers = [{ id: 'K-1', lastname: 'Grün', email: 'kim@example.org', contracts: [{ id: 'V-1' }] }];
  expect(await tickets.rpc('CustomerService/ImportCustomers', { customers }, admin)).toMatchObject([200, {}]);
});
afterEach(() => {
  model.state = 'available';
  model.failure = undefined;
  model.beforeResponse = undefined;
  model.beforeFile = undefined;
  model.rendered.length = 0;
  model.wrapped.length = 0;
});
afterAll(async () => {
  await tickets.stop();
  await stub.stop();
});

const post = (body: object, request: object = {}) =>
  tickets.request('POST', '/ticket', { body: { channel: 'email', ...body }, ...request });
const path = (id: number, rest: string) => `/ticket/${id}/conversation/${rest}`;
const reply = (id: number, body: object, request: object = {}) =>
  tickets.request('POST', path(id, 'reply'), { body, ...request });
const store = (id: number, body: object) => tickets.request('POST', path(id, 'store'), { body });
const read = async (id: number) => (await tickets.request('GET', `/ticket/${id}`)).json;
const variables = async (id: number) => (await tickets.request('GET', `/ticket/${id}/variables`)).json;
const fromCustomer = { from: 'kim@example.org', subject: 'Zähler', body: 'Broken.', subchannelId: 1 };
const outgoing = { direction: 'out', to: ['kim@example.org'], subchannelId: 1, templateId: greeting };

/** How many documents there are that a request could leave behind. */
async function countAll(): Promise<Record<string, number>> {
  const names = [
    'tickets',
    'conversations',
    'externalIds',
    'externalMessageIds',
    'idempotencyKeys',
    'fileRecords',
    'files.chunks',
  ];
  const count = async (name: string) => [name, await tickets.database.collection(name).countDocuments()];
  return Object.fromEntries(await Promise.all(names.map(count)));
}

describe('POST /ticket with a template', () => {
  // spec: 11.5, 21.22
  test('has its text with the e-mail template around it, its subject, and counts and leaves as any mail', async () => {
    const { status, json } = await post({ ...outgoing, templateData: { meter: '4711' } });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      body: wrapped('<p>Grün, no subject, 4711</p>'),
      bodyPlain: expect.stringMatching(/^Dear customer\s+Grün, no subject, 4711\s+Kind regards$/),
      subject: `Ticket ${json.id} of Grün`,
      customerId: 'K-1',
      template: null,
    });
    expect(json.lastMessageAt).toBe(json.createdAt);
    expect(await tickets.documentOf(json.id)).toMatchObject({ outgoingMessages: 1, incomingMessages: 0 });
    const { conversations } = (await tickets.request('GET', `/ticket/${json.id}/conversation`)).json;
    expect(conversations).toMatchObject([{ body: json.body, type: 'html', deliveryStatus: 'queued' }]);
  });

  // spec: 21.22
  test('is rendered once, with what the variables show afterwards apart from the text', async () => {
    const { json } = await post({
      ...{ ...outgoing, tags: [tagId], priority: 'high', contractId: 'V-1', fromName: 'Desk', externalTicketId: 'v-1' },
      ...{ attachments: [{ name: 'a.txt', base64: 'YQ==' }], templateData: { deep: { list: [1] } }, agentId: 7 },
    });
    expect(model.rendered).toHaveLength(1);
    const [shown] = model.rendered;
    expect(shown).toMatchObject({ templateId: greeting, withWrapper: true });
    const { ticket, ...others } = shown?.values ?? {};
    const after = await variables(json.id);
    expect(ticket).toMatchObject({ tagIds: [tagId], contractId: 'V-1', agent: { id: 7 } });
    const text = { body: null, bodyPlain: null, bodyClean: null, subject: null };
    expect(ticket).toEqual({ ...after.ticket, ...text, bodyPlain: ticket.bodyPlain, bodyClean: ticket.bodyClean });
    expect([ticket.bodyPlain, ticket.bodyClean].filter(Boolean)).toEqual([]);
    expect(others).toEqual({ ...after, ticket: undefined, in: { deep: { list: [1] } } });
    expect(others.agent).toMatchObject({ firstName: 'Ada' });
  });

  test.each([
    ['an outgoing mail', { channel: 'email', direction: 'out' }, true],
    ['an incoming mail', { channel: 'email', direction: 'in' }, false],
    ['an internal mail', { channel: 'email', direction: 'internal' }, false],
    ['an outgoing letter', { channel: 'letter', direction: 'out', to: ['Kim Lee'] }, false],
    ['an outgoing letter to an address', { channel: 'letter', direction: 'out', to: ['kim@example.com'] }, true],
    [
      'an outgoing letter that is only recorded',
      { channel: 'letter', direction: 'out', to: ['kim@example.com'], send: false },
      false,
    ],
    [
      'an outgoing letter of earlier',
      { channel: 'letter', direction: 'out', to: ['kim@example.com'], createdAt: '2020-01-01 00:00:00' },
      false,
    ],
  ])(
    'that is %s has the e-mail template around the text only if it is sent as a mail',
    async (_, body, withWrapper) => {
      const { json } = await post({ ...body, templateId: greeting });
      expect(model.rendered.map((one) => one.withWrapper)).toEqual([withWrapper]);
      expect(json.body.includes('Dear customer')).toBe(withWrapper);
    },
  );

  test('keeps a subject that is given', async () => {
    expect((await post({ ...outgoing, subject: 'Given' })).json.subject).toBe('Given');
    expect((await post({ ...outgoing, subject: '' })).json.subject).toBe('');
  });

  test('takes a text of a mebibyte, and an empty one is none', async () => {
    expect((await post({ channel: 'phone', templateId: long })).json.bodyPlain).toHaveLength(1024 * 1024 - 7);
    model.templates.set(9, { message: () => '' });
    const { json } = await post({ channel: 'phone', templateId: 9 });
    expect(json).toMatchObject({ body: null, lastMessageAt: null, subject: null });
  });

  test.each([
    ['a body', { templateId: greeting, body: 'x' }, ['#/body conflicting_fields']],
    ['data without a template', { templateData: {} }, ['#/templateData not_allowed']],
    ['a template that does not exist', { templateId: 404 }, ['#/templateId unknown_template']],
  ])('refuses %s, and creates nothing', async (_, body, violations) => {
    const before = await countAll();
    expect(violationsOf(await post({ ...body, externalTicketId: 'refused' }))).toEqual(violations);
    expect(await countAll()).toEqual(before);
  });

  test('updates the ticket of a known external id, and leaves it as it was if the template cannot be rendered', async () => {
    const first = (await post({ externalTicketId: 'known', ...fromCustomer })).json;
    const update = { externalTicketId: 'known', priority: 'urgent', templateId: greeting };
    model.state = 'unavailable';
    expect((await post(update)).status).toBe(503);
    expect((await read(first.id)).version).toBe(1);
    model.state = 'available';
    const { status, json } = await post(update);
    expect([status, json.id, json.version, json.priority]).toEqual([200, first.id, 2, 'urgent']);
    expect(json.body).toBe('<p>Grün, Zähler, no meter</p>');
    // Absent fields keep their values on an update.
    expect(json.subject).toBe('Zähler');
    expect(model.rendered).toHaveLength(1);
    expect(model.rendered[0]?.values.ticket).toMatchObject({ id: first.id, priority: 'urgent', body: null });
  });

  test('is the update if another request creates the ticket meanwhile', async () => {
    const body = { externalTicketId: 'raced', ...outgoing };
    let other = 0;
    model.beforeResponse = async () => {
      model.beforeResponse = undefined;
      other = (await post({ externalTicketId: 'raced', subject: 'First', body: 'First' })).json.id;
    };
    const { json } = await post(body);
    expect([json.id, json.version]).toEqual([other, 2]);
    expect(model.rendered.map(({ values }) => values.ticket.id === other)).toEqual([false, true]);
    expect(json).toMatchObject({ subject: 'First', body: wrapped('<p>Nobody, First, no meter</p>') });
  });
});

describe('a message with a template', () => {
  const create = async (body: object = {}) => (await post({ ...fromCustomer, ...body })).json.id as number;
  const text = '<p>Grün, Zähler, no meter</p>';

  test('is a reply with its text in HTML, that leaves as a mail with greeting and signature', async () => {
    const id = await create();
    const { status, json } = await reply(id, { templateId: greeting, templateData: { meter: 5 } });
    expect(status).toBe(201);
    expect(json.conversation).toMatchObject({
      body: wrapped('<p>Grün, Zähler, 5</p>'),
      type: 'html',
      subject: 'Re: Zähler',
      to: ['kim@example.org'],
      deliveryStatus: 'queued',
    });
    const before = await variables(id);
    expect(model.rendered).toMatchObject([{ values: { customer: before.customer, in: { meter: 5 } } }]);
    expect((await tickets.documentOf(id)).outgoingMessages).toBe(1);
  });

  test('reads the first intent that the message is about', async () => {
    const id = await create();
    const intent = {
      id: 7,
      aiAgentId: 4,
      code: 'meter',
      name: 'Meter',
      confidenceColor: 1,
      verified: false,
      status: 1,
    };
    const given = { contractId: null, confidence: null, messagePreview: null, recipient: null, data: '{"kWh":5}' };
    const intents = [{ ...intent, ...given, options: [], infos: [], outcome: null }];
    await tickets.database.collection<{ _id: number }>('tickets').updateOne({ _id: id }, { $set: { intents } });
    await reply(id, { templateId: greeting, isDraft: true, intentIds: [7] });
    await reply(id, { templateId: greeting, isDraft: true });
    const [withIntent, without] = model.rendered;
    expect(withIntent?.values.intent).toEqual((await read(id)).intents[0]);
    expect(withIntent?.values.intent).toMatchObject({ id: 7, ticketId: id, data: { kWh: 5 } });
    expect(without?.values.intent).toBeNull();
  });

  test.each([
    ['a draft', { isDraft: true }, wrapped(text)],
    ['a note', { private: true }, text],
  ])('is %s', async (_, body, expected) => {
    const id = await create();
    const { json } = await reply(id, { templateId: greeting, ...body });
    expect(json.conversation).toMatchObject({ ...body, type: 'html', body: expected });
  });

  test.each([
    ['in', {}, text],
    ['out', {}, wrapped(text)],
    ['internal', { private: true }, text],
  ])('is stored with direction %s', async (direction, body, expected) => {
    const id = await create();
    const { status, json } = await store(id, { direction, templateId: greeting, ...body });
    expect([status, json.conversation.body, json.conversation.type]).toEqual([201, expected, 'html']);
  });

  test('changes the ticket as another request has left it while the text was made, and shows what a read shows', async () => {
    const id = await create();
    model.beforeResponse = async () => {
      model.beforeResponse = undefined;
      const change = { body: { status: 'closed', priority: 'urgent' } };
      expect((await tickets.request('PATCH', `/ticket/${id}`, change)).status).toBe(200);
      expect((await store(id, outgoing)).status).toBe(201);
    };
    const { version } = await read(id);
    const { status, json } = await store(id, { ...outgoing, direction: 'in', to: [] });
    expect(status).toBe(201);
    // An incoming message reopens the ticket, which was open when its text was made.
    expect(await read(id)).toMatchObject({ version: version + 3, priority: 'urgent', status: 'open' });
    expect((await tickets.documentOf(id)).conversationIds).toHaveLength(2);
    const shown = await tickets.request('GET', path(id, `${json.conversationId}`));
    expect(shown.json).toEqual(json.conversation);
  });

  test('is not stored, and leaves nothing, if the ticket is deleted while the text is made', async () => {
    for (const [write, body] of [
      [reply, { templateId: greeting }],
      [store, outgoing],
    ] as const) {
      const id = await create();
      const before = await countAll();
      model.beforeResponse = async () => {
        model.beforeResponse = undefined;
        expect((await tickets.request('DELETE', `/ticket/${id}`, { caller: { roleId: 1 } })).status).toBe(200);
      };
      const { status, json } = await write(id, body);
      expect([status, json.code]).toEqual([404, 'ticket_not_found']);
      expect((await countAll()).conversations).toBe(before.conversations);
    }
  });

  test('has no e-mail template around it on another channel', async () => {
    const { id } = (await post({ channel: 'phone', templateId: greeting })).json;
    expect((await reply(id, { templateId: greeting })).json.conversation.body).not.toContain('Dear');
  });

  test('has the text of the template in the place of a content', async () => {
    const id = await create();
    const content = { message: 'Ours', type: 'text' };
    expect((await reply(id, { content, templateId: greeting })).json.conversation).toMatchObject({
      body: wrapped(text),
      type: 'html',
    });
  });

  test('can be written by RPC, on behalf of the same person', async () => {
    const ticketId = await create();
    const caller = { profileId: 12, firstName: 'Eva' };
    const [status, json] = await tickets.rpc(
      'ConversationService/ReplyToTicket',
      { ticketId, templateId: greeting, templateData: { meter: 8 } },
      caller,
    );
    expect([status, json.conversation.body]).toEqual([200, wrapped('<p>Grün, Zähler, 8</p>')]);
    expect(model.rendered[0]?.values.agent).toMatchObject({ id: 12, firstName: 'Eva' });
    const request = { channel: 'CHANNEL_PHONE', templateId: greeting };
    const [created, { ticket }] = await tickets.rpc('TicketService/CreateTicket', request, caller);
    expect([created, ticket.body]).toEqual([200, '<p>Nobody, no subject, no meter</p>']);
    const stored = { ticketId, templateId: greeting, direction: 'DIRECTION_IN' };
    const [recorded, { conversation }] = await tickets.rpc('ConversationService/StoreConversation', stored, caller);
    expect([recorded, conversation.body]).toEqual([200, text]);
  });

  test('refuses neither text nor template, and data without a template', async () => {
    const id = await create();
    const both = ['#/content required', '#/templateData not_allowed'];
    expect(violationsOf(await reply(id, { templateData: {} }))).toEqual(both);
    expect(violationsOf(await store(id, { direction: 'in', templateData: {} }))).toEqual(both);
    expect(await read(id)).toMatchObject({ version: 1 });
  });
});

describe('a template that cannot be rendered', () => {
  const attachments = [{ name: 'a.txt', base64: 'YQ==' }];
  const writes = async (): Promise<[string, (key: string) => ReturnType<typeof post>][]> => {
    const { id } = (await post(fromCustomer)).json;
    const body = { templateId: greeting, attachments };
    const headers = (key: string) => ({ headers: { 'idempotency-key': key } });
    return [
      ['POST /ticket', (key) => post({ ...outgoing, attachments }, headers(key))],
      ['POST /ticket, external id', (key) => post({ ...outgoing, attachments, externalTicketId: key }, headers(key))],
      ['reply', (key) => reply(id, body, headers(key))],
      ['draft', (key) => reply(id, { ...body, isDraft: true }, headers(key))],
      [
        'store',
        (key) => tickets.request('POST', path(id, 'store'), { body: { ...body, direction: 'out' }, ...headers(key) }),
      ],
    ];
  };

  // guarantee: F14
  test('because templates is unavailable is 503 with Retry-After; nothing is left, and the same request succeeds later', async () => {
    for (const [name, write] of await writes()) {
      const key = createHash('sha256').update(name).digest('hex');
      const before = await countAll();
      model.state = 'unavailable';
      const refused = await write(key);
      expect(refused.json, name).toMatchObject({ status: 503, code: 'templates_unavailable' });
      expect(refused.headers.get('retry-after'), name).toBe('2');
      expect(await countAll(), name).toEqual(before);
      model.state = 'available';
      expect((await write(key)).status, name).toBeLessThan(300);
      expect((await countAll()).fileRecords, name).toBe((before.fileRecords ?? 0) + 1);
    }
  });

  test('because it fails with these values is refused at the template, and nothing is left', async () => {
    const codes = ['template_too_slow', 'template_too_much_memory', 'template_output_too_large', 'template_failed'];
    const [, write] = (await writes())[2] ?? [];
    const before = await countAll();
    for (const code of [...codes, 'template_syntax']) {
      model.failure = invalidInput([{ pointer: '#/elsewhere', code, detail: 'Secret of another service.' }]);
      const refused = await write?.(code);
      expect(refused && violationsOf(refused)).toEqual([
        `#/templateId ${code === 'template_syntax' ? 'template_failed' : code}`,
      ]);
      expect(refused?.text).not.toContain('Secret');
    }
    model.failure = new DomainError('resource_exhausted', 'body_too_large', 'too large');
    expect((await write?.('too-large'))?.json).toMatchObject({ status: 400, code: 'template_failed' });
    model.failure = new DomainError('resource_exhausted', 'too_many_at_once', 'busy');
    expect((await write?.('busy'))?.json).toMatchObject({ status: 503, code: 'templates_unavailable' });
    model.failure = new DomainError('internal', 'internal', 'broken');
    expect((await write?.('broken'))?.json).toMatchObject({ status: 500, code: 'internal' });
    expect(await countAll()).toEqual(before);
  });

  // guarantee: F14
  test('does not keep other requests from being served', async () => {
    model.state = 'unavailable';
    const { status, json } = await post(fromCustomer);
    expect(status).toBe(200);
    const content = { message: 'Hello', type: 'text' };
    expect((await reply(json.id, { content })).status).toBe(201);
    expect((await tickets.request('GET', `/ticket/${json.id}/variables`)).status).toBe(200);
  });
});

describe('the files of a template', () => {
  const own = [{ name: 'own.txt', base64: 'YQ==' }];
  const namesOf = (list: { name: string }[]) => list.map(({ name }) => name);
  const download = async (ticketId: number, { id }: { id: string }) =>
    (await tickets.request('GET', `/ticket/${ticketId}/attachment/${id}`)).text;
  const withFiles = 5;

  beforeAll(() => {
    model.templates.set(withFiles, { message: () => 'See the files.', files: { aaaaaaaa: 'one', bbbbbbbb: 'two' } });
  });

  // spec: 11.6
  test('are attached to a ticket after those of the request, as copies', async () => {
    const { json } = await post({ ...outgoing, templateId: withFiles, attachments: own });
    expect(namesOf(json.attachments)).toEqual(['own.txt', 'aaaaaaaa', 'bbbbbbbb']);
    expect(json.attachments.slice(1).map(({ id }: { id: string }) => id)).not.toContain('aaaaaaaa');
    expect(await download(json.id, json.attachments[2])).toBe('two');
    expect(namesOf(model.rendered[0]?.values.ticket.attachments)).toEqual(['own.txt']);
  });

  test('are inline where the text shows them, by the path of the copy', async () => {
    const message = () =>
      '<p>See</p><img src="/template/6/attachment/bbbbbbbb"><img src="/template/5/attachment/bbbbbbbb">';
    model.templates.set(6, { message, files: { aaaaaaaa: 'one', bbbbbbbb: 'two' } });
    const { json } = await post(fromCustomer);
    const { attachments, body } = (await reply(json.id, { templateId: 6 })).json.conversation;
    expect(attachments.map(({ inline }: { inline: boolean }) => inline)).toEqual([false, true]);
    const other = '<img src="/template/5/attachment/bbbbbbbb" />';
    expect(body).toContain(`<p>See</p><img src="${attachments[1].url}" />${other}`);
    expect(await download(json.id, attachments[1])).toBe('two');
  });

  test('are attached to a reply and a draft, and added to the ticket of a known external id', async () => {
    const { json } = await post({ ...fromCustomer, externalTicketId: 'files', attachments: own });
    for (const isDraft of [false, true]) {
      const added = await reply(json.id, { templateId: withFiles, isDraft, attachments: own });
      const { attachments } = added.json.conversation;
      expect(namesOf(attachments)).toEqual(['own.txt', 'aaaaaaaa', 'bbbbbbbb']);
      expect(await download(json.id, attachments[1])).toBe('one');
    }
    const updated = await post({ externalTicketId: 'files', templateId: withFiles });
    expect(namesOf(updated.json.attachments)).toEqual(['own.txt', 'aaaaaaaa', 'bbbbbbbb']);
  });

  test('count as those of the message: one more than 20 is refused, and nothing is left', async () => {
    const { json } = await post(fromCustomer);
    const before = await countAll();
    const many = (count: number) => Array.from({ length: count }, () => own[0]);
    const refused = await reply(json.id, { templateId: withFiles, attachments: many(19) });
    expect([refused.status, refused.json.code]).toEqual([413, 'too_many_attachments']);
    expect(await countAll()).toEqual(before);
    expect((await reply(json.id, { templateId: withFiles, attachments: many(18) })).status).toBe(201);
  });

  // guarantee: F14
  test('of a service that becomes unavailable in between are none: nothing is written or left', async () => {
    const { json } = await post(fromCustomer);
    const before = await countAll();
    const writes = [
      () => post({ ...outgoing, templateId: withFiles, attachments: own, externalTicketId: 'between' }),
      () => reply(json.id, { templateId: withFiles, attachments: own }),
    ];
    for (const write of writes) {
      let files = 0;
      model.state = 'available';
      model.beforeFile = async () => {
        files += 1;
        if (files === 2) model.state = 'unavailable';
      };
      const refused = await write();
      expect(refused.json).toMatchObject({ status: 503, code: 'templates_unavailable' });
      expect(await countAll()).toEqual(before);
    }
  });
});

describe('a repeated request with a template', () => {
  const plainReply = { content: { message: 'Done.', type: 'text' }, withEmailTemplate: true };
  const headers = (key: string) => ({ headers: { 'idempotency-key': key } });
  const records = () => tickets.database.collection<{ _id: string; expiresAt: Date }>('idempotencyKeys');

  /** Makes the last record look as if its process had died before it responded. */
  async function abandonLast(): Promise<void> {
    const [last] = await records().find().sort({ expiresAt: -1 }).limit(1).toArray();
    const abandoned = { state: 'running', response: null, 'lease.expiresAt': new Date(0) };
    await records().updateOne({ _id: last?._id ?? '' }, { $set: abandoned });
  }

  test.each([
    ['POST /ticket', (key: string) => post(outgoing, headers(key))],
    ['POST /ticket, external id', (key: string) => post({ ...outgoing, externalTicketId: key }, headers(key))],
    ['reply', async (key: string) => reply(await theTicket(), { templateId: greeting }, headers(key))],
    ['draft', async (key: string) => reply(await theTicket(), { templateId: greeting, isDraft: true }, headers(key))],
    ['reply with an e-mail template', async (key: string) => reply(await theTicket(), plainReply, headers(key))],
    // guarantee: F23
  ])('is rendered once, also if its process died after the write: %s', async (name, write) => {
    const key = createHash('sha256').update(`again ${name}`).digest('hex');
    const first = await write(key);
    const again = await write(key);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.json).toEqual(first.json);
    await abandonLast();
    // The template may be gone by then.
    model.state = 'unavailable';
    const takenOver = await write(key);
    expect(takenOver.status).toBe(first.status);
    expect(takenOver.json.id).toBe(first.json.id);
    expect([...model.rendered, ...model.wrapped]).toHaveLength(1);
  });

  let ticketId: Promise<number> | undefined;
  function theTicket(): Promise<number> {
    ticketId ??= post(fromCustomer).then(({ json }) => json.id);
    return ticketId;
  }
});
