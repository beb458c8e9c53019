import { create, type DescMessage, type JsonObject, toJson } from '@bufbuild/protobuf';
import { type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { TagSchema } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import { CreateTagRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import {
  CreateTicketRequestSchema,
  SearchTicketsRequestSchema,
  TicketChangeSchema,
  UpdateTicketRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { withinCpuTime } from '@ticketing/testkit/machine-limits.ts';
import { expect, test } from 'vitest';
import { probeMessage } from '../../test/probe-contract.ts';
import { compileMessageDecoder, type DecoderOptions, Problems } from './decode.ts';

const resources: Record<string, DescMessage> = {
  [TicketSchema.typeName]: TicketSchema,
  [TagSchema.typeName]: TagSchema,
};
const findMessage = (typeName: string) => resources[typeName];

function read(schema: DescMessage, value: unknown, options: DecoderOptions = {}) {
  const problems = new Problems();
  const message = compileMessageDecoder(schema, { findMessage, ...options })(value, '#', problems);
  return {
    message: message as unknown as Record<string, unknown>,
    problems: problems.violations.map(({ pointer, code }) => `${code} ${pointer}`),
  };
}

const scalars = probeMessage([
  { name: 'text', type: 'TYPE_STRING' },
  { name: 'flag', type: 'TYPE_BOOL' },
  { name: 'small', type: 'TYPE_INT32' },
  { name: 'big', type: 'TYPE_INT64' },
  { name: 'number', type: 'TYPE_DOUBLE' },
  { name: 'date', type: 'TYPE_MESSAGE', typeName: '.google.protobuf.Timestamp' },
  { name: 'data', type: 'TYPE_MESSAGE', typeName: '.google.protobuf.Struct' },
  { name: 'value', type: 'TYPE_MESSAGE', typeName: '.google.protobuf.Value' },
  { name: 'list', type: 'TYPE_INT32', label: 'LABEL_REPEATED' },
  {
    name: 'short',
    type: 'TYPE_STRING',
    label: 'LABEL_REPEATED',
    options: { '[ticketing.api.v1.rules]': { maxItems: 2 } },
  },
]);

test.each([
  ['small', 2_147_483_647, 2_147_483_647],
  ['small', -2_147_483_648, -2_147_483_648],
  ['small', 1.0, 1],
  ['small', 1e3, 1000],
  ['big', 9_007_199_254_740_991, 9_007_199_254_740_991n],
  ['big', -9_007_199_254_740_991, -9_007_199_254_740_991n],
  ['number', 1.5, 1.5],
  ['number', -1e300, -1e300],
  ['text', '', ''],
  ['text', '😀\u0000', '😀\u0000'],
  ['flag', false, false],
  ['date', 0, { $typeName: 'google.protobuf.Timestamp', seconds: 0n, nanos: 0 }],
  ['date', -1, { $typeName: 'google.protobuf.Timestamp', seconds: -1n, nanos: 0 }],
  ['date', '1970-01-02', { $typeName: 'google.protobuf.Timestamp', seconds: 86_400n, nanos: 0 }],
  ['date', '1970-01-01T01:00:00+01:00', { $typeName: 'google.protobuf.Timestamp', seconds: 0n, nanos: 0 }],
  ['data', { a: [null] }, { a: [null] }],
  ['list', [], []],
])('reads %s: %j', (name, value, expected) => {
  const { message, problems } = read(scalars, { [name]: value });
  expect(problems).toEqual([]);
  expect(message[name]).toEqual(expected);
});

test.each([
  ['small', '-0'],
  ['big', '-0'],
])('reads -0 as 0 in %s', (name, text) => {
  const value = read(scalars, { [name]: JSON.parse(text) }).message[name];
  expect(Object.is(value, -0)).toBe(false);
  expect(Number(value)).toBe(0);
});

test.each([
  ['small', '2147483648', 'out_of_range'],
  ['small', '-2147483649', 'out_of_range'],
  ['small', '1e400', 'out_of_range'],
  ['small', '1.5', 'wrong_type'],
  ['small', '"1"', 'wrong_type'],
  ['small', 'true', 'wrong_type'],
  ['small', '[1]', 'wrong_type'],
  ['small', '{}', 'wrong_type'],
  ['big', '9007199254740992', 'out_of_range'],
  ['big', '-1e400', 'out_of_range'],
  ['big', '"1"', 'wrong_type'],
  ['number', '1e400', 'out_of_range'],
  ['number', '"NaN"', 'wrong_type'],
  ['number', '"1"', 'wrong_type'],
  ['text', '1', 'wrong_type'],
  ['text', '["a"]', 'wrong_type'],
  ['text', '"\\ud800"', 'invalid_text'],
  ['text', '"a\\udfffb"', 'invalid_text'],
  ['flag', '1', 'wrong_type'],
  ['flag', '"true"', 'wrong_type'],
  ['flag', '[]', 'wrong_type'],
  ['date', 'true', 'wrong_type'],
  ['date', '{"seconds":1}', 'wrong_type'],
  ['date', '"2024-02-30"', 'invalid_date'],
  ['date', '""', 'invalid_date'],
  ['date', '"1714979289"', 'invalid_date'],
  ['date', '1.5', 'invalid_date'],
  ['date', '1e400', 'invalid_date'],
  ['date', '253402300800', 'invalid_date'],
  ['date', '-62135596801', 'invalid_date'],
  ['data', '[]', 'wrong_type'],
  ['data', '"{}"', 'wrong_type'],
  ['list', '1', 'wrong_type'],
  ['list', '{"0":1}', 'wrong_type'],
  ['list', '"1"', 'wrong_type'],
])('refuses for %s the value %s: %s', (name, text, code) => {
  const { message, problems } = read(scalars, { [name]: JSON.parse(text) });
  expect(problems).toEqual([`${code} #/${name}`]);
  expect(message[name]).toEqual(create(scalars)[name as never]);
});

test.each([
  ['small', '12', 12],
  ['small', '-12', -12],
  ['small', '0', 0],
  ['big', '9007199254740991', 9_007_199_254_740_991n],
  ['number', '1.25', 1.25],
  ['flag', 'true', true],
  ['flag', 'false', false],
  ['text', '12', '12'],
  ['list', ['1', '2'], [1, 2]],
  ['list', '1', [1]],
  ['date', '86400', { $typeName: 'google.protobuf.Timestamp', seconds: 86_400n, nanos: 0 }],
  ['date', '1970-01-02', { $typeName: 'google.protobuf.Timestamp', seconds: 86_400n, nanos: 0 }],
])('reads %s from the text of a query: %j', (name, value, expected) => {
  const { message, problems } = read(scalars, { [name]: value }, { textual: true });
  expect(problems).toEqual([]);
  expect(message[name]).toEqual(expected);
});

const noPrototype = Object.assign(Object.create(null) as object, { a: '1' });

test.each([
  ['small', 'NaN', 'wrong_type'],
  ['small', 'Infinity', 'wrong_type'],
  ['small', '', 'wrong_type'],
  ['small', ' 1', 'wrong_type'],
  ['small', '+1', 'wrong_type'],
  ['small', '01', 'wrong_type'],
  ['small', '-0', 'wrong_type'],
  ['small', '1.0', 'wrong_type'],
  ['small', '1e3', 'wrong_type'],
  ['small', '0x10', 'wrong_type'],
  ['small', '1_000', 'wrong_type'],
  ['small', '１', 'wrong_type'],
  ['small', 'null', 'wrong_type'],
  ['small', '2147483648', 'out_of_range'],
  ['small', '9'.repeat(50_000), 'out_of_range'],
  ['small', ['1', '2'], 'wrong_type'],
  ['number', 'NaN', 'wrong_type'],
  ['number', '-Infinity', 'wrong_type'],
  ['number', '1e400', 'wrong_type'],
  ['flag', '1', 'wrong_type'],
  ['flag', 'TRUE', 'wrong_type'],
  ['flag', '', 'wrong_type'],
  ['flag', ['true'], 'wrong_type'],
  ['flag', noPrototype, 'wrong_type'],
  ['flag', 'constructor', 'wrong_type'],
  ['text', noPrototype, 'wrong_type'],
  ['text', ['a', 'b'], 'wrong_type'],
  ['date', noPrototype, 'wrong_type'],
  ['date', '1.0', 'invalid_date'],
])('refuses for %s the text %j in a query: %s', (name, value, code) => {
  expect(read(scalars, { [name]: value }, { textual: true }).problems).toEqual([`${code} #/${name}`]);
});

test.each([null, [], 'x', 1, true, undefined])('refuses %j in place of an object', (value) => {
  expect(read(scalars, value)).toEqual({ message: undefined, problems: ['wrong_type #'] });
});

test('treats null as absent except in a PATCH', () => {
  const nulls = Object.fromEntries(CreateTicketRequestSchema.fields.map((field) => [field.jsonName, null]));
  const { message, problems } = read(CreateTicketRequestSchema, nulls);
  expect(problems).toEqual([]);
  expect(message).toEqual(create(CreateTicketRequestSchema));
});

test('keeps null in a field in which null is a value', () => {
  const { message, problems } = read(SearchTicketsRequestSchema, {
    filters: [{ key: 'a', comparator: '=', value: null, values: [null, 1, 'x', [true]] }],
  });
  expect(problems).toEqual([]);
  const [filter] = message.filters as { value: Value; values: Value[] }[];
  expect(filter?.value.kind.case).toBe('nullValue');
  expect(filter?.values.map((value) => toJson(ValueSchema, value))).toEqual([null, 1, 'x', [true]]);
});

// asvs: 8.2.3, 15.3.3
test('distinguishes a read-only field from an unknown one', () => {
  const { problems } = read(CreateTicketRequestSchema, {
    id: 1,
    createdBy: 2,
    version: 3,
    tagIds: [1],
    nonsense: 1,
    ID: 1,
    created_at: 0,
    $typeName: 'x',
    'a/b~c': 1,
  });
  expect(problems).toEqual([
    'read_only_field #/id',
    'read_only_field #/createdBy',
    'read_only_field #/version',
    'read_only_field #/tagIds',
    'unknown_field #/nonsense',
    'unknown_field #/ID',
    'unknown_field #/created_at',
    'unknown_field #/$typeName',
    'unknown_field #/a~1b~0c',
  ]);
  expect(read(CreateTagRequestSchema, { fullName: 'x', modifiedAt: 0, name: 'x' }).problems).toEqual([
    'read_only_field #/fullName',
    'read_only_field #/modifiedAt',
  ]);
});

test.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
  'refuses the key %s as unknown',
  (key) => {
    const json = JSON.parse(`{"${key}":{"polluted":true}}`);
    expect(read(CreateTicketRequestSchema, json).problems).toEqual([`unknown_field #/${key}`]);
    expect(({} as JsonObject).polluted).toBeUndefined();
  },
);

test('refuses fields that belong to another part of the request, at the top level only', () => {
  const options = { without: new Set(['process', 'name']) };
  expect(read(CreateTicketRequestSchema, { process: 'batch' }, options).problems).toEqual(['unknown_field #/process']);
  const { problems } = read(CreateTicketRequestSchema, { attachments: [{ name: 'a.txt', url: 'x:y' }] }, options);
  expect(problems).toEqual([]);
});

// asvs: 15.3.5
test('reports every problem with its pointer', () => {
  const { message, problems } = read(SearchTicketsRequestSchema, {
    limit: '5',
    offset: 2 ** 31,
    ticketScope: 'ALL',
    filters: [{ key: 1, comparator: '=' }, 7, null, { key: 'a', nope: 1, values: {} }],
    cursor: '\udc00',
    orderByField: 't.id',
  });
  expect(problems).toEqual([
    'wrong_type #/limit',
    'out_of_range #/offset',
    'not_allowed #/ticketScope',
    'wrong_type #/filters/0/key',
    'wrong_type #/filters/1',
    'wrong_type #/filters/2',
    'unknown_field #/filters/3/nope',
    'wrong_type #/filters/3/values',
    'invalid_text #/cursor',
  ]);
  expect(message.orderByField).toBe('t.id');
});

test('reports at most a hundred problems', () => {
  const keys = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, 1]));
  expect(read(scalars, keys).problems).toHaveLength(100);
});

test.each(['low', 'walkIn'])('reads the enum spelling %s only in its own enum', (spelling) => {
  const { message, problems } = read(CreateTicketRequestSchema, { priority: spelling, channel: spelling });
  expect(problems).toHaveLength(1);
  expect([message.priority, message.channel]).toEqual(spelling === 'low' ? [1, undefined] : [undefined, 7]);
});

test.each(['LOW', 'PRIORITY_LOW', 'priorityLow', '', 'unspecified', '1', 'constructor'])(
  'refuses the enum value %j',
  (value) => {
    expect(read(CreateTicketRequestSchema, { priority: value }).problems).toEqual(['not_allowed #/priority']);
  },
);

test.each([1, 0, null, true, ['low'], {}])('refuses the enum value %j unless it is null', (value) => {
  expect(read(CreateTicketRequestSchema, { priority: value }).problems).toEqual(
    value === null ? [] : ['wrong_type #/priority'],
  );
});

test('reads a list of up to the limit, and no item of a longer list', async () => {
  expect(read(scalars, { short: ['a', 'b'] }).message.short).toEqual(['a', 'b']);
  expect(read(scalars, { short: ['a', 1, null] }).problems).toEqual(['too_many_items #/short']);
  const million = Array(1_000_000).fill(null);
  const { problems } = await withinCpuTime(100, () => read(CreateTicketRequestSchema, { tags: million }));
  expect(problems).toEqual(['too_many_items #/tags']);
});

test('reports the part of open JSON that is not portable', () => {
  const data = JSON.parse('{"a":[1,{"b":1e999}],"c":"\\ud800","\\udfff":1}');
  expect(read(scalars, { data, value: data }).problems).toEqual([
    'out_of_range #/data/a/1/b',
    'invalid_text #/data/c',
    'invalid_text #/data/\udfff',
    'out_of_range #/value/a/1/b',
    'invalid_text #/value/c',
    'invalid_text #/value/\udfff',
  ]);
});

test('accepts an open value up to 32 levels deep and not one more', () => {
  const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
  expect(read(scalars, { value: nested(32) }).problems).toEqual([]);
  expect(read(scalars, { value: nested(33) }).problems).toEqual([`too_deep #/value${'/a'.repeat(32)}`]);
});

test('fills the mask of a PATCH from the keys that are present', () => {
  const { message, problems } = read(UpdateTicketRequestSchema, {
    dueBy: null,
    contractId: 'c1',
    workedOnBy: null,
    tagIds: [],
  });
  expect(problems).toEqual([]);
  expect(message.updateMask).toEqual({
    $typeName: 'google.protobuf.FieldMask',
    paths: ['due_by', 'contract_id', 'worked_on_by', 'tag_ids'],
  });
  expect([message.dueBy, message.contractId, message.workedOnBy]).toEqual([undefined, 'c1', undefined]);
});

test('has an empty mask for an empty PATCH', () => {
  expect(read(UpdateTicketRequestSchema, {}).message.updateMask).toMatchObject({ paths: [] });
});

test('refuses null in a PATCH if the field cannot be null', () => {
  const { problems } = read(UpdateTicketRequestSchema, { status: null, priority: null, tagIds: null, dueBy: null });
  expect(problems).toEqual(['null_not_allowed #/status', 'null_not_allowed #/priority', 'null_not_allowed #/tagIds']);
});

test('refuses the mask itself as a key', () => {
  expect(read(UpdateTicketRequestSchema, { updateMask: 'status' }).problems).toEqual(['unknown_field #/updateMask']);
  expect(read(UpdateTicketRequestSchema, { subject: 'x' }).problems).toEqual(['read_only_field #/subject']);
  expect(read(TicketChangeSchema, { id: 1, subject: 'x' }).problems).toEqual([]);
});

test('reads a message that contains itself', () => {
  const tree = probeMessage([
    { name: 'name', type: 'TYPE_STRING' },
    { name: 'children', type: 'TYPE_MESSAGE', typeName: '.probe.Probe', label: 'LABEL_REPEATED' },
  ]);
  const { problems } = read(tree, { name: 'a', children: [{ name: 'b', children: [{ name: 1, nope: 2 }] }] });
  expect(problems).toEqual(['wrong_type #/children/0/children/0/name', 'unknown_field #/children/0/children/0/nope']);
});

test.each([
  ['a oneof', [{ name: 'a', type: 'TYPE_STRING', oneofIndex: 0 }], ['kind']],
  ['bytes', [{ name: 'a', type: 'TYPE_BYTES' }], []],
  ['an unsigned number', [{ name: 'a', type: 'TYPE_UINT32' }], []],
])('refuses to compile %s', (_, fields, oneofs) => {
  expect(() => compileMessageDecoder(probeMessage(fields, oneofs))).toThrow('has no JSON form');
});

test('compiles nested messages immediately, not at the first request', () => {
  const outer = probeMessage([{ name: 'a', type: 'TYPE_MESSAGE', typeName: '.google.protobuf.FileDescriptorProto' }]);
  expect(() => compileMessageDecoder(outer)).toThrow('scalar type 4 has no JSON form');
});
