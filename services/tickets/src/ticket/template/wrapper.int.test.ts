import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import type { StubServer } from '@ticketing/testkit/stub-server.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../../test/harness.ts';
import { serveTemplates, TemplatesModel } from '../../../test/stub-templates.ts';
import { defaultSettings, type TicketSettings } from '../../settings.ts';
import type { KnownSubchannel } from '../rules/subchannels.ts';

const model = new TemplatesModel();
let stub: StubServer;
let tickets: TicketsHarness;
let settings: TicketSettings;

const mailbox = { enabled: true, interface: 'imap', channel: Channel.EMAIL, name: 'Mailbox' };
const subchannels = new Map<number, KnownSubchannel>([
  [1, { ...mailbox, emailTemplateId: 11 }],
  [2, mailbox],
]);

beforeAll(async () => {
  stub = await serveTemplates(model);
  tickets = await startHarness({ calledPorts: { grpc: stub.port }, settings: async () => settings });
});
beforeEach(() => {
  settings = { ...defaultSettings, subchannels, genericTemplateId: null };
  model.state = 'available';
  model.failure = undefined;
  model.asked.length = 0;
  model.wrapped.length = 0;
  model.wrappers.clear();
});
afterAll(async () => {
  await tickets.stop();
  await stub.stop();
});

const create = async (body: object = {}) =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'email', ...body } })).json;
const templateOf = async (id: number): Promise<string | null> =>
  (await tickets.request('GET', `/ticket/${id}`)).json.template;
/**
 * Reads the template until it is the expected one: on a slow machine a read may not wait long enough for it, and after a
 * failure it is not read for a moment.
 */
const untilTemplate = (id: number, expected: string | null) => expect.poll(() => templateOf(id)).toBe(expected);
/** Reads the templates of tickets, and what each of these reads asks for. */
async function readTemplates(...ids: number[]) {
  model.asked.length = 0;
  const templates: (string | null)[] = [];
  for (const id of ids) templates.push(await templateOf(id));
  return { templates, asked: [...model.asked] };
}

// spec: 6.49, 6.51
test('the template of a ticket is that of its subchannel, else the default one, else null', async () => {
  const [named, unnamed, without] = [
    await create({ subchannelId: 1 }),
    await create({ subchannelId: 2 }),
    await create(),
  ];
  await expect.poll(() => readTemplates(named.id, without.id)).toEqual({ templates: [null, null], asked: [[11]] });
  model.wrappers.set(11, 'Ours %MESSAGE%').set(12, 'Default %MESSAGE% {{agent.firstName}}');
  settings.genericTemplateId = 12;
  const usual = 'Default %MESSAGE% {{agent.firstName}}';
  await expect
    .poll(() => readTemplates(named.id, unnamed.id, without.id))
    .toEqual({ templates: ['Ours %MESSAGE%', usual, usual], asked: [[11, 12], [12], [12]] });
  model.wrappers.delete(11);
  await untilTemplate(named.id, usual);
});

// spec: 6.50
test('only a read of the ticket shows it', async () => {
  settings.genericTemplateId = 12;
  model.wrappers.set(12, '%MESSAGE%');
  const created = await create();
  const patched = await tickets.request('PATCH', `/ticket/${created.id}`, { body: { priority: 'high' } });
  const { ticket } = (await tickets.request('GET', `/ticket/${created.id}/variables`)).json;
  expect([created.template, patched.json.ticket.template, ticket.template]).toEqual([null, null, null]);
  expect(model.asked).toEqual([]);
  await untilTemplate(created.id, '%MESSAGE%');
});

test('a large one is shown whole', async () => {
  settings.genericTemplateId = 13;
  const text = `%MESSAGE%${'ü'.repeat(512 * 1024 - 5)}`;
  model.wrappers.set(13, text);
  const { id } = await create();
  await untilTemplate(id, text);
});

test('while templates is unavailable it is the text that was read last, else null; a change shows when it is back', async () => {
  settings.genericTemplateId = 14;
  model.wrappers.set(14, 'Before %MESSAGE%');
  const [known, unknown] = [await create(), await create({ subchannelId: 1 })];
  await untilTemplate(known.id, 'Before %MESSAGE%');
  model.state = 'unavailable';
  model.wrappers.set(14, 'After %MESSAGE%');
  expect(await templateOf(known.id)).toBe('Before %MESSAGE%');
  expect(await templateOf(unknown.id)).toBeNull();
  model.state = 'available';
  await untilTemplate(known.id, 'After %MESSAGE%');
  model.wrappers.delete(14);
  await untilTemplate(known.id, null);
});

// guarantee: F14
test('while templates does not respond reads do not wait for it one after the other', async () => {
  settings.genericTemplateId = 15;
  model.wrappers.set(15, 'Seen %MESSAGE%');
  const { id } = await create();
  await untilTemplate(id, 'Seen %MESSAGE%');
  model.state = 'frozen';
  model.asked.length = 0;
  for (let count = 0; count < 5; count += 1) expect(await templateOf(id)).toBe('Seen %MESSAGE%');
  expect(model.asked.length).toBeLessThan(5);
  model.state = 'available';
  model.wrappers.set(15, 'New %MESSAGE%');
  await untilTemplate(id, 'New %MESSAGE%');
});

describe('a reply with the e-mail template of its ticket', () => {
  const content = { message: 'Done.', type: 'text' };
  const ticket = async (body: object = {}) => (await create({ from: 'kim@example.org', ...body })).id as number;
  const reply = (id: number, body: object = {}, headers: Record<string, string> = {}) =>
    tickets.request('POST', `/ticket/${id}/conversation/reply`, {
      body: { content, withEmailTemplate: true, ...body },
      headers,
    });
  const plain = { body: 'Done.', type: 'text' };
  const ours = '<p>Ours</p>%MESSAGE%';
  const wrapped = { body: '<p>Ours</p>Done.', type: 'html' };

  beforeEach(() => {
    Object.assign(settings, { genericTemplateId: 12, mailFrom: 'desk@example.org' });
    model.wrappers.set(11, ours).set(12, '<p>Default</p>%MESSAGE%');
  });

  test('has that of the mailbox, else the default one, with the values of the ticket and who writes', async () => {
    const id = await ticket({ subchannelId: 1, subject: 'Meter' });
    expect((await reply(id)).json.conversation).toMatchObject({ ...wrapped, deliveryStatus: 'queued' });
    expect(model.wrapped).toMatchObject([{ type: ContentType.TEXT, values: { ticket: { id, subject: 'Meter' } } }]);
    expect(model.wrapped[0]?.values.agent).toMatchObject({ firstName: 'Ada' });
    // The mailbox of the message counts.
    const other = (await reply(id, { subchannelId: 2, content: { message: '<b>x</b>', type: 'html' } })).json;
    expect(other.conversation).toMatchObject({ body: '<p>Default</p><b>x</b>', type: 'html' });
    expect(model.wrapped[1]?.type).toBe(ContentType.HTML);
    expect((await reply(await ticket())).json.conversation.body).toBe('<p>Default</p>Done.');
    expect(model.asked).toEqual([[11, 12], [12], [12]]);
  });

  test.each([{}, { isDraft: true }])(
    'has that of the default mailbox where it leaves from that: %o',
    async (request) => {
      const isDefault = { ...mailbox, address: 'all@example.org', isDefault: true, emailTemplateId: 11 };
      settings.subchannels = new Map([[3, isDefault]]);
      const { conversation } = (await reply(await ticket({ channel: 'phone' }), request)).json;
      expect(conversation).toMatchObject(wrapped);
    },
  );

  test.each([
    ['is not asked for', {}, { withEmailTemplate: false }],
    ['would be around a note', {}, { private: true }],
    ['would be around a message that is no mail', { channel: 'phone', from: '+49 30 1' }, {}],
  ])('has none if it %s', async (_, body, request) => {
    expect((await reply(await ticket(body), request)).json.conversation).toMatchObject(plain);
    expect(model.asked).toEqual([]);
  });

  test('has none if there is none, or it was deleted', async () => {
    const id = await ticket();
    model.wrappers.clear();
    expect((await reply(id)).json.conversation).toMatchObject(plain);
    settings.genericTemplateId = null;
    model.asked.length = 0;
    expect((await reply(id)).json.conversation).toMatchObject(plain);
    expect(model.asked).toEqual([]);
  });

  test('is refused and leaves nothing while it cannot be rendered, and succeeds later', async () => {
    const id = await ticket();
    const headers = { 'idempotency-key': 'later' };
    model.state = 'unavailable';
    expect((await reply(id, {}, headers)).json).toMatchObject({ status: 503, code: 'templates_unavailable' });
    model.state = 'available';
    const violation = { pointer: '#/content', code: 'template_too_slow', detail: 'Secret of another service.' };
    model.failure = invalidInput([violation]);
    expect(violationsOf(await reply(id, {}, headers))).toEqual(['#/withEmailTemplate template_too_slow']);
    expect((await tickets.request('GET', `/ticket/${id}/conversation`)).json.total).toBe(0);
    model.failure = undefined;
    expect((await reply(id, {}, headers)).json.conversation.body).toBe('<p>Default</p>Done.');
  });
});
