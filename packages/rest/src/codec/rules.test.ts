import { create, type DescMessage, fromBinary, fromJson, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { NullValue, type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { ListKnowledgeSourcesRequestSchema } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { KnowledgeStatus } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import { DeleteAttachmentRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/attachment_service_pb.ts';
import { UpdateConversationRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { CreateTagRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import {
  CreateTicketRequestSchema,
  GetTicketRequestSchema,
  SearchTicketsRequestSchema,
  UpdateTicketRequestSchema,
  UpdateTicketsRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { withinCpuTime } from '@ticketing/testkit/machine-limits.ts';
import { expect, test } from 'vitest';
import { probeMessage } from '../../test/probe-contract.ts';
import { fieldNamed } from './options.ts';
import { messageValidator, toItemKeywords, toKeywords } from './rules.ts';

/** The violations of a message that arrives over RPC. */
function found<Desc extends DescMessage>(schema: Desc, init: MessageInitShape<Desc>): string[] {
  const delivered = fromBinary(schema, toBinary(schema, create(schema, init)));
  return messageValidator(schema)(delivered).map(({ pointer, code }) => `${code} ${pointer}`);
}

const ticket = (init: MessageInitShape<typeof CreateTicketRequestSchema>) =>
  found(CreateTicketRequestSchema, { channel: 3, ...init });
const search = (init: MessageInitShape<typeof SearchTicketsRequestSchema>) => found(SearchTicketsRequestSchema, init);
const update = (init: MessageInitShape<typeof UpdateTicketRequestSchema>) =>
  found(UpdateTicketRequestSchema, { ticketId: 1, ...init });
const at = (seconds: number | bigint) => ({ seconds: BigInt(seconds), nanos: 0 });

test('accepts a message that follows all rules', () => {
  expect(
    ticket({
      from: 'a@b.de',
      to: ['x'],
      subject: '',
      tags: [1, 2],
      priority: 4,
      dueBy: at(0),
      rawData: { a: [1, null] },
      agentId: 1,
    }),
  ).toEqual([]);
  expect(search({ limit: 500, offset: 0, filters: [{ key: 'a', comparator: 'not in', values: [] }] })).toEqual([]);
});

// spec: 31.2
test('requires the required fields', () => {
  expect(found(CreateTicketRequestSchema, {})).toEqual(['required #/channel']);
  expect(
    found(UpdateConversationRequestSchema, { ticketId: 1, conversationId: 1, updateMask: {}, content: {} }),
  ).toEqual(['required #/content/message', 'required #/content/type']);
});

test('treats the zero of a field without presence as absent', () => {
  expect(search({ filters: [{}] })).toEqual(['required #/filters/0/key', 'required #/filters/0/comparator']);
});

test.each([
  [0, ['out_of_range #/limit']],
  [1, []],
  [500, []],
  [501, ['out_of_range #/limit']],
  [-2_147_483_648, ['out_of_range #/limit']],
])('keeps a number in its range: limit %i', (limit, expected) => {
  expect(search({ limit })).toEqual(expected);
});

test('counts lengths in characters, at the limit and one above', () => {
  expect(ticket({ subject: '😀'.repeat(998) })).toEqual([]);
  expect(ticket({ subject: '😀'.repeat(999) })).toEqual(['too_long #/subject']);
  expect(ticket({ contractId: '' })).toEqual(['too_short #/contractId']);
  expect(ticket({ to: ['a', '', 'b'.repeat(321)] })).toEqual(['too_short #/to/1', 'too_long #/to/2']);
});

test('counts bytes if the rule is in bytes', () => {
  expect(ticket({ body: 'ä'.repeat(2_621_440) })).toEqual([]);
  expect(ticket({ body: `${'ä'.repeat(2_621_440)}a` })).toEqual(['too_long #/body']);
  const overhead = Buffer.byteLength(JSON.stringify({ a: '' }));
  expect(ticket({ rawData: { a: 'x'.repeat(1_048_576 - overhead) } })).toEqual([]);
  expect(ticket({ rawData: { a: 'x'.repeat(1_048_577 - overhead) } })).toEqual(['too_long #/rawData']);
});

test('accepts open data up to its depth and not one level more', () => {
  const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
  expect(ticket({ rawData: nested(32) })).toEqual([]);
  expect(ticket({ rawData: nested(33) })).toEqual(['too_deep #/rawData']);
});

test('refuses an enum number that the contract does not name, unspecified included', () => {
  expect(ticket({ priority: 99 as never })).toEqual(['not_allowed #/priority']);
  expect(ticket({ priority: 0 })).toEqual(['not_allowed #/priority']);
  expect(ticket({ channel: 0 })).toEqual(['not_allowed #/channel']);
});

test('refuses a value of an enum that the rule of the field does not name', () => {
  const list = (status: KnowledgeStatus) => found(ListKnowledgeSourcesRequestSchema, { status });
  expect([list(KnowledgeStatus.ACTIVE), list(KnowledgeStatus.ARCHIVED)]).toEqual([[], []]);
  expect(list(KnowledgeStatus.DELETED)).toEqual(['not_allowed #/status']);
});

test('refuses a comparator that the contract does not name', () => {
  expect(search({ filters: [{ key: 'a', comparator: '~' }] })).toEqual(['not_allowed #/filters/0/comparator']);
});

test('checks formats and patterns', () => {
  const conversation = { ticketId: 1, conversationId: 1, updateMask: {} };
  expect(found(UpdateConversationRequestSchema, { ...conversation, to: ['a@b.de', 'nope', 'a@b@c'] })).toEqual([
    'invalid_format #/to/1',
    'invalid_format #/to/2',
  ]);
  expect(found(UpdateConversationRequestSchema, { ...conversation, attachments: [{ url: 'not a uri' }] })).toEqual([
    'invalid_format #/attachments/0/url',
  ]);
  expect(found(CreateTagRequestSchema, { name: 'x', color: '#12345g' })).toEqual(['invalid_format #/color']);
  for (const attachmentId of ['abcd123', 'abcd12345', 'ABCD1234', 'abcd1234\n', '../../../..']) {
    expect(found(DeleteAttachmentRequestSchema, { ticketId: 1, attachmentId })).toEqual([
      'invalid_format #/attachmentId',
    ]);
  }
});

test('the details name the limit in bytes, and what a text must not contain', () => {
  const details = (given: object) =>
    messageValidator(CreateTicketRequestSchema)(create(CreateTicketRequestSchema, given)).map(({ detail }) => detail);
  expect(details({ channel: 1, subject: 'a\nb' })).toEqual([
    'must not contain a line break or another control character',
  ]);
  expect(details({ channel: 1, rawData: { text: 'a'.repeat(2 ** 20) } })).toEqual(['is longer than 1048576 bytes']);
});

test('refuses a text with a control character in every field that becomes a header of a mail', () => {
  for (const bad of ['\r', '\n', '\0', '\u0008', '\v', '\f', '\u001f', '\u007f', '\u0085', '\u2028', '\u2029']) {
    const text = `a${bad}b`;
    const given = { subject: text, from: text, fromName: text, to: ['a', text], cc: [text], bcc: [text] };
    expect(ticket(given)).toEqual([
      'invalid_format #/from',
      'invalid_format #/fromName',
      'invalid_format #/to/1',
      'invalid_format #/cc/0',
      'invalid_format #/bcc/0',
      'invalid_format #/subject',
    ]);
    expect(ticket({ subject: `a${bad}` })).toEqual(['invalid_format #/subject']);
    const change = { id: 1, updateMask: { paths: ['subject'] }, subject: text };
    expect(found(UpdateTicketsRequestSchema, { tickets: [change] })).toEqual(['invalid_format #/tickets/0/subject']);
  }
  expect(ticket({ subject: 'a\tb\u0084\u0086\u2027\u202aü😀', fromName: '' })).toEqual([]);
  expect(ticket({ body: 'a\r\nb' })).toEqual([]);
});

test('refuses a contract with a pattern beside header_text', () => {
  const rules = { headerText: true, pattern: 'x' };
  const probe = probeMessage([{ name: 'text', type: 'TYPE_STRING', options: { '[ticketing.api.v1.rules]': rules } }]);
  expect(() => messageValidator(probe)).toThrow('cannot have both');
});

test('refuses an item that occurs twice', () => {
  expect(ticket({ tags: [1, 2, 1] })).toEqual(['duplicate_item #/tags']);
});

test('accepts a list at its limit, and checks no item of a longer one', () => {
  expect(ticket({ to: Array(500).fill('a') })).toEqual([]);
  expect(ticket({ to: Array(501).fill('') })).toEqual(['too_many_items #/to']);
  expect(found(UpdateTicketsRequestSchema, {})).toEqual(['too_few_items #/tickets']);
});

test('returns at once for a list of a million items', async () => {
  const message = create(CreateTicketRequestSchema, { channel: 1, tags: Array(1_000_000).fill(0) });
  const validate = messageValidator(CreateTicketRequestSchema);
  const violations = await withinCpuTime(100, () => validate(message));
  expect(violations.map(({ code }) => code)).toEqual(['too_many_items']);
});

test.each([
  ['subject', '漢'.repeat(13_000_000)],
  ['subject', 'x'.repeat(40_000_000)],
  ['body', '漢'.repeat(13_000_000)],
])('of a %s that is much too long, checks nothing else, and returns at once', async (name, text) => {
  const message = create(CreateTicketRequestSchema, { channel: 1, [name]: text });
  const violations = await withinCpuTime(50, () => messageValidator(CreateTicketRequestSchema)(message));
  expect(violations.map(({ pointer, code }) => `${code} ${pointer}`)).toEqual([`too_long #/${name}`]);
});

test('does not write an object that is certainly too long to count its bytes', async () => {
  const message = create(CreateTicketRequestSchema, { channel: 1, rawData: { a: '"'.repeat(20_000_000) } });
  const violations = await withinCpuTime(50, () => messageValidator(CreateTicketRequestSchema)(message));
  expect(violations.map(({ code }) => code)).toEqual(['too_long']);
});

test('returns at most a hundred violations of each kind', () => {
  const tickets = Array.from({ length: 500 }, () => ({ id: 0, tagIds: [0, -1], version: 0 }));
  const masked = tickets.map((ticket) => ({ ...ticket, updateMask: { paths: ['x', 'y'] } }));
  expect(found(UpdateTicketsRequestSchema, { tickets: masked })).toHaveLength(200);
});

test.each([
  [-62_135_596_800n, []],
  [-62_135_596_801n, ['invalid_date #/dueBy']],
  [253_402_300_799n, []],
  [253_402_300_800n, ['invalid_date #/dueBy']],
  [2n ** 63n - 1n, ['invalid_date #/dueBy']],
])('accepts dates of the years 1 to 9999: %s', (seconds, expected) => {
  expect(ticket({ dueBy: at(seconds) })).toEqual(expected);
});

test('refuses an open value that JSON cannot express', () => {
  const filter = (kind: Value['kind']) => search({ filters: [{ key: 'a', comparator: '=', value: { kind } }] });
  expect(filter({ case: 'numberValue', value: Number.NaN })).toEqual(['invalid_value #/filters/0/value']);
  expect(filter({ case: 'numberValue', value: Number.POSITIVE_INFINITY })).toEqual(['invalid_value #/filters/0/value']);
  expect(filter({ case: undefined })).toEqual(['invalid_value #/filters/0/value']);
  expect(filter({ case: 'nullValue', value: NullValue.NULL_VALUE })).toEqual([]);
  expect(filter({ case: 'stringValue', value: 'x' })).toEqual([]);
  expect(ticket({ rawData: { a: [Number.NaN] } })).toEqual(['invalid_value #/rawData']);
});

test('refuses a name that reaches a prototype in a Struct or Value, as it arrives by RPC', () => {
  const parse = (json: string) => JSON.parse(json);
  for (const bad of ['{"__proto__":1}', '{"a":[{"b":{"__proto__":{}}}]}', '{"constructor":{"prototype":1}}']) {
    expect(ticket({ rawData: parse(bad) })).toEqual(['prototype_key #/rawData']);
    const value = fromJson(ValueSchema, parse(bad));
    expect(search({ filters: [{ key: 'a', comparator: '=', value }] })).toEqual(['prototype_key #/filters/0/value']);
  }
  const hidden = parse('{"$typeName":"google.protobuf.Value","kind":{"case":"boolValue","value":true},"__proto__":1}');
  expect(ticket({ rawData: hidden })).toEqual(['prototype_key #/rawData']);
  expect(ticket({ rawData: { constructor: { name: 'x' }, prototype: 1, proto: { prototype: 1 } } })).toEqual([]);
});

test('does not apply the rules of a field to the same name in open data', () => {
  expect(ticket({ rawData: { $typeName: 'google.protobuf.Value', kind: { case: 'x' } } })).toEqual([]);
});

test('refuses a change without a mask, which would change nothing; an empty mask says so', () => {
  expect(update({ contractId: 'x' })).toEqual(['required #/updateMask']);
  expect(update({ updateMask: { paths: [] } })).toEqual([]);
  expect(found(UpdateTicketsRequestSchema, { tickets: [{ id: 1, updateMask: {} }, { id: 2 }] })).toEqual([
    'required #/tickets/1/updateMask',
  ]);
});

test('refuses a mask that names an unknown field or one that cannot be null', () => {
  expect(update({ updateMask: { paths: ['status', 'nonsense', 'update_mask', 'dueBy', '__proto__'] } })).toEqual([
    'null_not_allowed #/status',
    'unknown_field #/updateMask',
    'unknown_field #/updateMask',
    'unknown_field #/updateMask',
    'unknown_field #/updateMask',
  ]);
});

test('accepts a mask that unsets a field that can be null', () => {
  expect(update({ updateMask: { paths: ['due_by', 'contract_id', 'worked_on_by', 'tag_ids'] } })).toEqual([]);
  expect(update({ updateMask: { paths: ['status'] }, status: 1 })).toEqual([]);
});

test('checks the whole mask, even if it names one field many times', () => {
  const paths = [...Array(5_000).fill('due_by'), 'status'];
  expect(update({ updateMask: { paths } })).toEqual(['null_not_allowed #/status']);
});

test('returns at once for a mask of very many unknown names', async () => {
  const paths = Array.from({ length: 200_000 }, (_, index) => `x${index}`);
  const message = create(UpdateTicketRequestSchema, { ticketId: 1, updateMask: { paths } });
  const validate = messageValidator(UpdateTicketRequestSchema);
  expect(await withinCpuTime(100, () => validate(message))).toHaveLength(100);
});

test('checks the mask of each change in a list', () => {
  const tickets = [
    { id: 1, updateMask: { paths: ['due_by'] } },
    { id: 2, updateMask: { paths: ['priority', 'x'] } },
  ];
  expect(found(UpdateTicketsRequestSchema, { tickets })).toEqual([
    'null_not_allowed #/tickets/1/priority',
    'unknown_field #/tickets/1/updateMask',
  ]);
});

test('does not fail on list items that could not be decoded', () => {
  const probe = probeMessage([
    { name: 'dates', type: 'TYPE_MESSAGE', typeName: '.google.protobuf.Timestamp', label: 'LABEL_REPEATED' },
    {
      name: 'structs',
      type: 'TYPE_MESSAGE',
      typeName: '.google.protobuf.Struct',
      label: 'LABEL_REPEATED',
      options: { '[ticketing.api.v1.rules]': { maxBytes: 10, maxDepth: 2 } },
    },
    {
      name: 'texts',
      type: 'TYPE_STRING',
      label: 'LABEL_REPEATED',
      options: { '[ticketing.api.v1.rules]': { maxBytes: 10 } },
    },
  ]);
  const message = Object.assign(create(probe), { dates: [undefined], structs: [undefined], texts: [undefined] });
  expect(() => messageValidator(probe)(message)).not.toThrow();
  const changes = Object.assign(create(UpdateTicketsRequestSchema), { tickets: [undefined] });
  expect(() => messageValidator(UpdateTicketsRequestSchema)(changes)).not.toThrow();
});

test('reports a violation for every invalid message', () => {
  const probe = probeMessage([
    { name: 'ratio', type: 'TYPE_DOUBLE', options: { '[ticketing.api.v1.rules]': { minimum: 0, maximum: 1 } } },
  ]);
  const validate = (ratio: number) => messageValidator(probe)(Object.assign(create(probe), { ratio })).length;
  expect([validate(0), validate(1), validate(1.5), validate(Number.NaN)]).toEqual([0, 0, 1, 1]);
});

test('refuses ids that a ticket cannot have', () => {
  expect(found(GetTicketRequestSchema, { ticketId: 0 })).toEqual(['out_of_range #/ticketId']);
  expect(found(GetTicketRequestSchema, { ticketId: 1 })).toEqual([]);
});

test('describes each problem in words', () => {
  const [violation] = messageValidator(SearchTicketsRequestSchema)(
    create(SearchTicketsRequestSchema, { filters: [{ key: 'a', comparator: '~' }] }),
  );
  expect(violation?.detail).toBe('must be one of: =, equal, !=, <, <=, >, >=, in, not in, between, like');
});

test('shares its keywords with the documentation', () => {
  expect(toKeywords(fieldNamed(SearchTicketsRequestSchema, 'limit'))).toEqual({ minimum: 1, maximum: 500 });
  const headerText = expect.stringContaining('u000A');
  expect(toKeywords(fieldNamed(CreateTicketRequestSchema, 'to'))).toEqual({
    minLength: 1,
    maxLength: 320,
    pattern: headerText,
  });
  expect(toItemKeywords(fieldNamed(CreateTicketRequestSchema, 'tags'))).toEqual({ maxItems: 500, uniqueItems: true });
});
