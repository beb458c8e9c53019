import { TicketSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { CreateTicketRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

let tickets: TicketsHarness;

beforeAll(async () => {
  tickets = await startHarness();
});
afterAll(() => tickets.stop());

const post = (body: unknown, query = '', headers: Record<string, string> = {}) =>
  tickets.request('POST', `/ticket${query}`, { body, headers });
const count = () => tickets.database.collection('tickets').countDocuments();
const mebi = 1024 * 1024;

async function refusal(body: unknown, query = ''): Promise<string[]> {
  const before = await count();
  const response = await post(body, query);
  expect(response.status).toBe(400);
  expect(await count()).toBe(before);
  return violationsOf(response);
}

describe('a date', () => {
  test.each([
    ['2026-01-31 08:15:30', '2026-01-31 08:15:30'],
    ['2026-01-31 08:15', '2026-01-31 08:15:00'],
    ['2026-01-31', '2026-01-31 00:00:00'],
    ['2024-02-29', '2024-02-29 00:00:00'],
    ['2026-01-31T08:15:30Z', '2026-01-31 08:15:30'],
    ['2026-01-31t08:15:30z', '2026-01-31 08:15:30'],
    ['2026-01-31T08:15:30.999Z', '2026-01-31 08:15:30'],
    ['2026-01-31T08:15:30+02:00', '2026-01-31 06:15:30'],
    ['2026-01-31T23:15:30-05:30', '2026-02-01 04:45:30'],
    [1_769_847_330, '2026-01-31 08:15:30'],
    [0, '1970-01-01 00:00:00'],
    [-1, '1969-12-31 23:59:59'],
    ['0001-01-01', '0001-01-01 00:00:00'],
    ['9999-12-31 23:59:59', '9999-12-31 23:59:59'],
    // spec: 3.1, 6.40, 21.15
  ])('may be written %j', async (given, returned) => {
    const { json } = await post({ channel: 'chat', createdAt: given, dueBy: given, firstResponseDueBy: given });
    expect(json).toMatchObject({ createdAt: returned, dueBy: returned, firstResponseDueBy: returned });
    expect((await tickets.request('GET', `/ticket/${json.id}`)).json.dueBy).toBe(returned);
  });

  test.each([
    '2026-02-29',
    '2026-02-30 10:00:00',
    '2026-04-31',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '2026-01-31 24:00:00',
    '2026-01-31 08:60:00',
    '2026-12-31T23:59:60Z',
    '2026-01-31T08:15:30+24:00',
    '0000-01-01',
    '10000-01-01',
    '26-01-31',
    '2026-1-31',
    '31.01.2026',
    '1769847330',
    '',
    'tomorrow',
    1.5,
    253_402_300_800,
    // spec: 21.15
  ])('that does not exist is refused, never rolled over: %j', async (given) => {
    expect(await refusal({ channel: 'chat', dueBy: given })).toEqual(['#/dueBy invalid_date']);
  });

  test('must be a text or a number', async () => {
    expect(await refusal({ channel: 'chat', dueBy: true, createdAt: {}, firstResponseDueBy: ['2026-01-31'] })).toEqual([
      '#/createdAt wrong_type',
      '#/dueBy wrong_type',
      '#/firstResponseDueBy wrong_type',
    ]);
  });
});

describe('an enumeration', () => {
  const spellings = {
    priority: ['low', 'medium', 'high', 'urgent'],
    status: ['open', 'pending', 'closed'],
    direction: ['in', 'out', 'internal'],
    channel: ['email', 'portal', 'phone', 'letter', 'system', 'chat', 'walkIn'],
  };
  // spec: 2.1, 4.1, 4.2, 4.3, 4.4, 6.1, 6.7, 17.2
  test.each(Object.entries(spellings))('%s accepts each of its values and returns it', async (field, words) => {
    for (const word of words) {
      const { json } = await post({ channel: 'chat', [field]: word });
      expect(json[field]).toBe(word);
      expect((await tickets.request('GET', `/ticket/${json.id}`)).json[field]).toBe(word);
    }
  });
  // spec: 4.10
  test.each(Object.keys(spellings))('%s accepts no other spelling', async (field) => {
    for (const word of ['', 'LOW', 'Open', 'walk_in', 'walkin', 'unspecified', 'PRIORITY_LOW', 'toString', ' in']) {
      expect(await refusal({ channel: 'chat', [field]: word })).toEqual([`#/${field} not_allowed`]);
    }
    expect(await refusal({ channel: 'chat', [field]: 1 })).toEqual([`#/${field} wrong_type`]);
  });
});

describe('a field', () => {
  const writable = new Set(CreateTicketRequestSchema.fields.map(({ jsonName }) => jsonName));
  const readOnly = TicketSchema.fields.map(({ jsonName }) => jsonName).filter((name) => !writable.has(name));

  // spec: 6.6
  test.each(readOnly)('%s of the ticket cannot be written', async (name) => {
    expect(await refusal({ channel: 'chat', [name]: null })).toEqual([`#/${name} read_only_field`]);
  });
  test.each(['process', 'includeRawData', 'Channel', 'toString', 'a/b~c', ''])('%j is unknown', async (name) => {
    const pointer = `#/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    expect(await refusal({ channel: 'chat', [name]: 1 })).toEqual([`${pointer} unknown_field`]);
  });
  test('that is optional may be null, which has the same effect as leaving it out', async () => {
    const all = Object.fromEntries([...writable].map((name) => [name, null]));
    const { process, includeRawData, ...body } = all;
    expect([process, includeRawData]).toEqual([null, null]);
    const nulls = (await post({ ...body, channel: 'chat' })).json;
    const absent = (await post({ channel: 'chat' })).json;
    const volatile = { id: 0, createdAt: '', modifiedAt: '' };
    expect({ ...nulls, ...volatile }).toEqual({ ...absent, ...volatile });
  });
  // spec: 6.29, 21.1
  test('channel is required', async () => {
    expect(await refusal({})).toEqual(['#/channel required']);
    expect(await refusal({ channel: null })).toEqual(['#/channel required']);
    expect(await refusal(undefined)).toEqual(['#/channel required']);
  });
  test('that occurs twice is refused', async () => {
    expect(await refusal('{"channel":"chat","subject":"a","subject":"b"}')).toEqual(['#/subject duplicate_key']);
  });
});

describe('a body that is not an object', () => {
  test.each(['[]', '"chat"', '5', 'true', 'null'])('%s is refused', async (body) => {
    expect(await refusal(body)).toEqual(['# wrong_type']);
  });
  test.each(['{', '{"channel":"chat"', '{channel:"chat"}', 'NaN', '\u0000'])('%j is malformed', async (body) => {
    expect(await refusal(body)).toEqual(['# malformed_json']);
  });
});

describe('a limit', () => {
  const json = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
  test.each([
    ['subject', '😀'.repeat(998), '😀'.repeat(999)],
    ['from', 'x'.repeat(320), 'x'.repeat(321)],
    ['fromName', 'ä'.repeat(320), 'ä'.repeat(321)],
    ['contractId', 'c'.repeat(50), 'c'.repeat(51)],
    ['externalTicketId', 'e'.repeat(320), 'e'.repeat(321)],
    ['body', 'ä'.repeat(2.5 * mebi), `${'ä'.repeat(2.5 * mebi)}x`],
    ['rawData', json(mebi), json(mebi + 1)],
    ['workitem', json(mebi), json(mebi + 1)],
  ])('of %s: a value at the limit is stored, a longer one is too_long', async (field, fits, exceeds) => {
    const { status, json: ticket } = await post({ channel: 'letter', [field]: fits }, '?includeRawData=true');
    expect(status).toBe(200);
    expect(ticket[field]).toEqual(fits);
    expect(await refusal({ channel: 'letter', [field]: exceeds })).toEqual([`#/${field} too_long`]);
  });

  // spec: 21.10
  test.each(['to', 'cc'])('of %s is 500 addresses of 320 characters', async (field) => {
    const fits = Array.from({ length: 500 }, (_, index) => `${index}`.padStart(320, 'x'));
    expect((await post({ channel: 'letter', [field]: fits })).json[field]).toEqual(fits);
    expect(await refusal({ channel: 'letter', [field]: [...fits, 'y'] })).toEqual([`#/${field} too_many_items`]);
    expect(await refusal({ channel: 'letter', [field]: ['', 'x'.repeat(321)] })).toEqual([
      `#/${field}/0 too_short`,
      `#/${field}/1 too_long`,
    ]);
  });

  test('of an id is the range of positive 32-bit integers', async () => {
    expect((await post({ channel: 'chat', agentId: 2_147_483_647 })).json.agentId).toBe(2_147_483_647);
    for (const agentId of [0, -1, 2_147_483_648]) {
      expect(await refusal({ channel: 'chat', agentId })).toEqual(['#/agentId out_of_range']);
    }
    expect(await refusal({ channel: 'chat', agentId: 1.5 })).toEqual(['#/agentId wrong_type']);
    expect(await refusal({ channel: 'chat', tags: [1, 1] })).toEqual(['#/tags duplicate_item']);
    expect(await refusal({ channel: 'chat', contractId: '', externalTicketId: '' })).toEqual([
      '#/contractId too_short',
      '#/externalTicketId too_short',
    ]);
  });

  test('of objects of any shape is 32 levels, including lists', async () => {
    const nested = (levels: number): unknown =>
      levels === 0 ? 1 : levels % 2 ? { a: nested(levels - 1) } : [nested(levels - 1)];
    expect((await post({ channel: 'chat', workitem: nested(31) })).status).toBe(200);
    expect(await refusal({ channel: 'chat', workitem: nested(33) })).toEqual(['#/workitem too_deep']);
    expect(await refusal(`{"channel":"chat","rawData":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`)).toHaveLength(1);
  });

  test('of every field at once: the ticket fits into one document of the database', async () => {
    const addresses = Array.from({ length: 500 }, (_, index) => `${'𝒳'.repeat(310)}${index}`);
    const words = Array.from({ length: 2500 }, (_, index) => String.fromCodePoint(0x4e00 + index).repeat(64)).join(' ');
    const body = words.repeat(20).slice(0, 1_700_000);
    const created = await post({
      channel: 'letter',
      direction: 'out',
      from: '𝒳'.repeat(320),
      fromName: '𝒳'.repeat(320),
      subject: '𝒳'.repeat(998),
      externalTicketId: '𝒳'.repeat(320),
      contractId: '𝒳'.repeat(50),
      to: addresses,
      cc: addresses,
      body: `${body}${'x'.repeat(5 * mebi - Buffer.byteLength(body))}`,
      rawData: json(mebi),
      workitem: json(mebi),
    });
    expect(created.status).toBe(200);
  });
});

describe('the query', () => {
  test.each(['realtime', 'batch', 'false'])('process=%s is stored', async (process) => {
    const { json } = await post({ channel: 'chat' }, `?process=${process}`);
    expect((await tickets.documentOf(json.id)).process).toBe(process);
    expect(json).not.toHaveProperty('process');
  });
  // spec: 21.3
  test('process is batch by default', async () => {
    const { json } = await post({ channel: 'chat' });
    expect((await tickets.documentOf(json.id)).process).toBe('batch');
  });
  // spec: 21.5
  test.each(['true', 'REALTIME', 'Batch', '', '0'])('process=%s is refused', async (process) => {
    expect(await refusal({ channel: 'chat' }, `?process=${process}`)).toEqual(['#/query/process not_allowed']);
  });
  test('accepts no unknown parameter, and only true or false for a flag', async () => {
    expect(await refusal({ channel: 'chat' }, '?includeRawData=1&proces=batch')).toEqual([
      '#/query/includeRawData wrong_type',
      '#/query/proces unknown_field',
    ]);
  });
  // spec: 6.56
  test('responses to POST and GET contain the raw data only with includeRawData=true', async () => {
    const rawData = { subject: null, 'a.b': { $set: [1.5, true, {}] }, '': '' };
    const shown = await post({ channel: 'chat', rawData }, '?includeRawData=true');
    expect(shown.json.rawData).toEqual(rawData);
    expect((await post({ channel: 'chat', rawData }, '?includeRawData=false')).json).not.toHaveProperty('rawData');
    const path = `/ticket/${shown.json.id}`;
    expect((await tickets.request('GET', `${path}?includeRawData=true`)).json.rawData).toEqual(rawData);
    expect((await tickets.request('GET', path)).json).not.toHaveProperty('rawData');
    expect((await tickets.request('GET', `${path}?includeSessions=maybe`)).status).toBe(400);
  });
});

describe('a text', () => {
  // spec: 6.33, 6.34, 6.35, 21.14
  test('is returned sanitised, plain and clean, and stored unchanged', async () => {
    const body =
      '<p onclick="x()">Guten Tag,<br>der <b>Zähler</b> steht.</p><script>alert(1)</script>' +
      '<img src="x" onerror="y()"><p>-- <br>Kim Muster<br>Musterweg 1</p>';
    const { json } = await post({ channel: 'email', body });
    expect(json.body).not.toMatch(/script|onclick|onerror/);
    expect(json.body).toContain('<b>Zähler</b>');
    expect(json.bodyPlain).toMatch(/^Guten Tag,\nder Zähler steht\./);
    expect(json.bodyPlain).toContain('Kim Muster');
    expect(json.bodyClean).toBe('Guten Tag,\nder Zähler steht.');
    expect((await tickets.documentOf(json.id)).body).toBe(body);
    expect((await tickets.request('GET', `/ticket/${json.id}`)).json).toMatchObject({ body: json.body });
  });
  test('that is empty counts as no body', async () => {
    const { json } = await post({ channel: 'email', body: '', subject: '' });
    expect(json).toMatchObject({ body: null, bodyPlain: null, bodyClean: null, lastMessageAt: null, subject: '' });
  });
  test('with half of a surrogate pair is refused', async () => {
    expect(await refusal('{"channel":"chat","subject":"\\ud800","rawData":{"a":"\\udc00"}}')).toEqual([
      '#/rawData/a invalid_text',
      '#/subject invalid_text',
    ]);
  });
});

describe('a text that becomes a header of a mail', () => {
  test.each(['\r\nBcc: x@example.org', '\n', '\0', '\x1b[2J', '\x7f'])('is refused with %j', async (bad) => {
    const text = `a${bad}b`;
    const given = { subject: text, from: text, fromName: text, to: [text], cc: ['a', text] };
    const pointers = ['#/cc/1', '#/from', '#/fromName', '#/subject', '#/to/0'];
    const expected = pointers.map((pointer) => `${pointer} invalid_format`);
    expect(await refusal({ channel: 'phone', ...given })).toEqual(expected);
    const bcc = { channel: 'email', direction: 'out', bcc: [`a@example.org${bad}`] };
    expect(await refusal(bcc)).toEqual(['#/bcc/0 invalid_format']);
  });

  // guarantee: I38
  test('is refused when it would update a known ticket, in a bulk and by RPC too', async () => {
    const { json } = await post({ channel: 'chat', externalTicketId: 'header-1', subject: 'before' });
    const subject = 'a\r\nb';
    expect(await refusal({ channel: 'chat', externalTicketId: 'header-1', subject })).toEqual([
      '#/subject invalid_format',
    ]);
    const bulk = await tickets.request('PATCH', '/ticket', { body: [{ id: json.id, subject }] });
    expect([bulk.status, violationsOf(bulk)]).toEqual([400, ['#/0/subject invalid_format']]);
    const rpc = await fetch(`${tickets.url}/ticketing.tickets.v1.TicketService/CreateTicket`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await tickets.identity.issuerToken()}`, 'content-type': 'application/json' },
      body: JSON.stringify({ channel: 'CHANNEL_CHAT', subject }),
    });
    expect([rpc.status, await rpc.text()]).toEqual([400, expect.stringContaining('subject')]);
    expect((await tickets.request('GET', `/ticket/${json.id}`)).json.subject).toBe('before');
  });

  test('may have a tab, and characters beyond ASCII', async () => {
    const subject = 'a\tb\u00a0ü😀';
    expect((await post({ channel: 'chat', subject })).json.subject).toBe(subject);
  });
});

test('null for a field that is optional is as if it were absent', async () => {
  const nothing = { subchannelId: null, templateId: null, templateData: null, attachments: [] };
  expect((await post({ channel: 'email', ...nothing })).status).toBe(200);
});

// spec: 6.27
test('a chat is active for five minutes after a message of the customer', async () => {
  const at = (secondsAgo: number) => Math.floor(Date.now() / 1000) - secondsAgo;
  const active = async (body: object) => (await post({ channel: 'chat', body: 'Hi', ...body })).json.isCustomerActive;
  expect(await active({ createdAt: at(240) })).toBe(true);
  expect(await active({ createdAt: at(320) })).toBe(false);
  expect(await active({ direction: 'out' })).toBe(false);
  expect(await active({ body: null })).toBe(false);
  expect(await active({ channel: 'email' })).toBe(false);
});

// spec: 6.61
test('channelId is for chats only', async () => {
  const chat = await tickets.request('POST', '/ticket', { body: { channel: 'chat', channelId: 'room-7' } });
  expect(chat.json).toMatchObject({ channel: 'chat', channelId: 'room-7' });
  const email = await tickets.request('POST', '/ticket', { body: { channel: 'email', channelId: 'room-7' } });
  expect(violationsOf(email)).toEqual(['#/channelId not_allowed']);
});

test('callerNumber is a telephone number, for calls only, and is found however it is written', async () => {
  const call = (callerNumber: unknown, channel = 'phone') =>
    tickets.request('POST', '/ticket', { body: { channel, callerNumber } });
  const { json } = await call('tel:+49-30-7654321');
  expect(json).toMatchObject({ channel: 'phone', callerNumber: 'tel:+49-30-7654321', from: null });
  for (const filter of [
    { key: 'callerNumber', comparator: '=', value: 'tel:+49-30-7654321' },
    { key: 'q', comparator: '=', value: '0049 (30) 76 54 321' },
    { key: 'q', comparator: '=', value: '+4930765' },
  ]) {
    const found = await tickets.request('POST', '/ticket/search', { body: { filters: [filter] } });
    expect(found.json.tickets.map(({ id }: { id: number }) => id)).toEqual([json.id]);
  }
  expect((await call(null)).json.callerNumber).toBeNull();
  expect(violationsOf(await call('+49 30 1', 'email'))).toEqual(['#/callerNumber not_allowed']);
  for (const text of ['', 'anonymous', '+', 'x1', '1'.repeat(65)]) expect((await call(text)).status, text).toBe(400);
});
