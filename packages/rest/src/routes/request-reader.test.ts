import { type DescMessage, type DescMethod, equals, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import { ExportService } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { AttachmentService } from '@ticketing/contracts/ticketing/tickets/v1/attachment_service_pb.ts';
import { TagSchema } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { DomainError } from '@ticketing/errors/domain-error.ts';
import { expect, test } from 'vitest';
import { readRestRule } from '../codec/options.ts';
import { parseJson } from '../limits/parse-json.ts';
import { requestReader, toBinding } from './request-reader.ts';

interface Parts {
  body?: unknown;
  text?: string;
  bytes?: Buffer;
  query?: string;
  path?: Record<string, string>;
}

const resources: Record<string, DescMessage> = {
  [TicketSchema.typeName]: TicketSchema,
  [TagSchema.typeName]: TagSchema,
};

function read(
  method: DescMethod,
  { body, text, bytes, query = '', path = {} }: Parts,
): Message & Record<string, unknown> {
  const rule = readRestRule(method);
  if (!rule) throw new Error(`${method.name} has no route`);
  const given =
    bytes ?? (text === undefined && body === undefined ? undefined : Buffer.from(text ?? JSON.stringify(body)));
  const { hasBody, read: reader } = requestReader(method, toBinding(method, rule), (typeName) => resources[typeName]);
  return reader({ body: hasBody && given && given.length > 0 ? parseJson(given) : undefined, query, path }) as Message &
    Record<string, unknown>;
}

function problems(method: DescMethod, parts: Parts): string[] {
  try {
    read(method, parts);
  } catch (error) {
    return (error as DomainError).violations.map(({ pointer, code }) => `${code} ${pointer}`);
  }
  return [];
}

const { createTicket, searchTickets, getTicket, updateTicket, updateTickets, deleteTicket, getTicketHistory } =
  TicketService.method;
const { deleteAttachment } = AttachmentService.method;
const { exportReportingTickets } = ExportService.method;
const ticketId = { ticketId: '5' };

test('reads each field from the part of the request that the route declares', () => {
  expect(
    read(updateTicket, { path: ticketId, query: 'includeInWorklog=false', body: { status: 'closed', dueBy: null } }),
  ).toMatchObject({ ticketId: 5, includeInWorklog: false, status: 3, updateMask: { paths: ['status', 'due_by'] } });
  expect(read(createTicket, { query: 'process=false&includeRawData=true', body: { channel: 'email' } })).toMatchObject({
    process: 3,
    includeRawData: true,
    channel: 1,
  });
  expect(read(getTicket, { path: ticketId, query: 'erpCacheOnly=true' })).toMatchObject({
    ticketId: 5,
    erpCacheOnly: true,
  });
  expect(read(TagService.method.listTags, { query: 'q=a&type=customerProperty&limit=1000' })).toMatchObject({
    q: 'a',
    type: 4,
    limit: 1000,
  });
});

test('reports the problems in path, query and body together', () => {
  expect(
    problems(updateTicket, {
      path: { ticketId: '0' },
      query: 'includeInWorklog=maybe&nope=1',
      text: '{"status":"gone","status":"open","subject":"x","nope":1,"priority":null,"dueBy":"2023-02-29","contractId":"","tagIds":[1,"2",0,1]}',
    }),
  ).toEqual([
    'wrong_type #/query/includeInWorklog',
    'unknown_field #/query/nope',
    'duplicate_key #/status',
    'read_only_field #/subject',
    'unknown_field #/nope',
    'null_not_allowed #/priority',
    'invalid_date #/dueBy',
    'wrong_type #/tagIds/1',
    'out_of_range #/path/ticketId',
    'too_short #/contractId',
    'out_of_range #/tagIds/2',
  ]);
});

test('reports the problem in the path together with a body that is not an object', () => {
  expect(problems(updateTicket, { path: { ticketId: '0' }, body: [] })).toEqual([
    'wrong_type #',
    'out_of_range #/path/ticketId',
  ]);
});

test('does not accept fields of the path or the query in the body', () => {
  expect(problems(updateTicket, { path: ticketId, body: { ticketId: 6, includeInWorklog: true } })).toEqual([
    'unknown_field #/ticketId',
    'unknown_field #/includeInWorklog',
  ]);
  expect(problems(createTicket, { query: 'channel=email', body: {} })).toEqual([
    'unknown_field #/query/channel',
    'required #/channel',
  ]);
});

test('reports the read-only fields in POST /ticket', () => {
  expect(problems(createTicket, { body: { channel: 'email', id: 1, createdBy: 1, version: 1, tagIds: [] } })).toEqual([
    'read_only_field #/id',
    'read_only_field #/createdBy',
    'read_only_field #/version',
    'read_only_field #/tagIds',
  ]);
});

test('reads a list that is the whole body, with pointers into it', () => {
  const message = read(updateTickets, { query: 'includeInWorklog=false', body: [{ id: 1, dueBy: null }, { id: 2 }] });
  expect(message).toMatchObject({
    includeInWorklog: false,
    tickets: [
      { id: 1, updateMask: { paths: ['id', 'due_by'] } },
      { id: 2, updateMask: { paths: ['id'] } },
    ],
  });
  expect(
    problems(updateTickets, {
      body: [
        { id: 1, dueBy: '2024-02-30' },
        7,
        null,
        { status: null, createdAt: 0, 'a/b': 1 },
        { id: 1, customerLegitimation: 101, addTagIds: [1, 1], refreshMode: 'everything' },
      ],
    }),
  ).toEqual([
    'invalid_date #/0/dueBy',
    'wrong_type #/1',
    'wrong_type #/2',
    'null_not_allowed #/3/status',
    'read_only_field #/3/createdAt',
    'unknown_field #/3/a~1b',
    'not_allowed #/4/refreshMode',
    'required #/3/id',
    'out_of_range #/4/customerLegitimation',
    'duplicate_item #/4/addTagIds',
  ]);
});

test.each([
  [{}, ['wrong_type #']],
  [null, ['too_few_items #']],
  [[], ['too_few_items #']],
  [{ tickets: [] }, ['wrong_type #']],
  [Array(501).fill({}), ['too_many_items #']],
])('refuses a body that is not a list of changes: %j', (body, expected) => {
  expect(problems(updateTickets, { body })).toEqual(expected);
});

test('reports a duplicate key in a list body with its pointer', () => {
  expect(problems(updateTickets, { text: '[{"id":1},{"id":1,"\\u0069d":2}]' })).toEqual(['duplicate_key #/1/id']);
});

// spec: 19.1
test('treats an absent body as an empty one', () => {
  expect(problems(createTicket, {})).toEqual(['required #/channel']);
  expect(problems(createTicket, { bytes: Buffer.alloc(0) })).toEqual(['required #/channel']);
  expect(read(updateTicket, { path: ticketId })).toMatchObject({ updateMask: { paths: [] } });
});

test.each([
  '{',
  '{"channel":"email",}',
  "{'a':1}",
  'NaN',
  '{"a":NaN}',
  '{"a":Infinity}',
  '{"a":01}',
  '{} {}',
  ' ',
  'undefined',
  '{"a":1}x',
])('refuses %j, which is not JSON', (text) => {
  expect(problems(createTicket, { text })).toEqual(['malformed_json #']);
});

test('refuses bytes that are not UTF-8', () => {
  expect(problems(createTicket, { bytes: Buffer.from([0x22, 0xff, 0x22]) })).toEqual(['malformed_json #']);
  expect(problems(createTicket, { bytes: Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]) })).toEqual(['malformed_json #']);
  expect(problems(createTicket, { bytes: Buffer.from('{"channel":"email"}', 'utf16le') })).toEqual([
    'malformed_json #',
  ]);
});

test('accepts a byte order mark', () => {
  expect(problems(createTicket, { text: '\ufeff{"channel":"email"}' })).toEqual([]);
});

test.each([
  ['{"__proto__":{"channel":"email"},"channel":"email"}', ['prototype_key #/__proto__', 'unknown_field #/__proto__']],
  ['{"channel":"email","rawData":{"a":{"__proto__":{"x":1}}}}', ['prototype_key #/rawData/a/__proto__']],
  [
    '{"channel":"email","rawData":{"constructor":{"prototype":{"x":1}}}}',
    ['prototype_key #/rawData/constructor/prototype'],
  ],
])('refuses keys that reach a prototype: %s', (text, expected) => {
  expect(problems(createTicket, { text })).toEqual(expected);
  expect(({} as Record<string, unknown>).x).toBeUndefined();
});

test.each(['__proto__[x]=1', '__proto__=1', 'constructor[prototype][x]=1', '=1', 'filters[0][key]=a'])(
  'refuses an unknown query parameter: %s',
  (query) => {
    expect(problems(getTicket, { path: ticketId, query })[0]).toMatch(/^unknown_field #\/query\//);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  },
);

test('reads objects in a query from JSON, or from names in brackets', () => {
  const json = (value: unknown) => `filters=${encodeURIComponent(JSON.stringify(value))}`;
  const filter = { key: 'id', comparator: 'in', values: ['1', '2'] };
  const brackets = 'filters[0][key]=id&filters[0][comparator]=in&filters[0][values][]=1&filters[0][values][]=2&limit=3';
  const filters = [{ key: 'id', comparator: 'in' }];
  for (const query of [brackets, `${json([filter])}&limit=3`]) {
    const message = read(exportReportingTickets, { query });
    expect(message).toMatchObject({ filters, limit: 3 });
    expect((message.filters as { values: unknown[] }[])[0]?.values).toHaveLength(2);
  }
  expect(read(exportReportingTickets, { query: json([]) })).toMatchObject({ filters: [] });
  for (const [query, expected] of [
    [json([{ ...filter, colour: 1 }]), ['unknown_field #/query/filters/0/colour']],
    [json({}), ['wrong_type #/query/filters']],
    [json([{ ...filter, comparator: '~' }]), ['not_allowed #/query/filters/0/comparator']],
    ['filters=[{&limit=x', ['malformed_json #/query/filters', 'wrong_type #/query/limit']],
    ['filters=', ['malformed_json #/query/filters']],
    [
      `filters=${encodeURIComponent('[{"key":"id","key":"id","comparator":"="}]')}`,
      ['duplicate_key #/query/filters/0/key'],
    ],
    [`${json([filter])}&${json([filter])}`, ['wrong_type #/query/filters/0', 'wrong_type #/query/filters/1']],
    [`filters=${encodeURIComponent('['.repeat(80))}`, ['malformed_json #/query/filters']],
    [
      `filters=${encodeURIComponent(`${'['.repeat(80)}${']'.repeat(80)}`)}`,
      [`too_deep #/query/filters${'/0'.repeat(64)}`],
    ],
  ] as const) {
    expect([query, problems(exportReportingTickets, { query })]).toEqual([query, expected]);
  }
});

// asvs: 15.3.7
test('refuses a parameter that is given twice', () => {
  expect(problems(getTicket, { path: ticketId, query: 'refresh=true&refresh=true' })).toEqual([
    'wrong_type #/query/refresh',
  ]);
  expect(problems(getTicketHistory, { path: ticketId, query: 'limit=1&limit[a]=2' })).toEqual([
    'wrong_type #/query/limit',
  ]);
});

test('reports a limit in the query that is out of range', () => {
  expect(problems(getTicketHistory, { path: ticketId, query: 'limit=1001&offset=-1' })).toEqual([
    'out_of_range #/query/limit',
    'out_of_range #/query/offset',
  ]);
});

test.each([
  ['0', 'out_of_range'],
  ['-1', 'out_of_range'],
  ['2147483648', 'out_of_range'],
  ['99999999999999999999', 'out_of_range'],
  ['01', 'wrong_type'],
  ['abc', 'wrong_type'],
  ['1.0', 'wrong_type'],
  ['1e1', 'wrong_type'],
  ['', 'wrong_type'],
  ['/', 'wrong_type'],
  ['__proto__', 'wrong_type'],
])('refuses the ticket id %j: %s', (id, code) => {
  expect(problems(deleteTicket, { path: { ticketId: id } })).toEqual([`${code} #/path/ticketId`]);
});

// spec: 26.1
test('checks the format of an attachment id in the path', () => {
  expect(problems(deleteAttachment, { path: { ...ticketId, attachmentId: 'ABC' } })).toEqual([
    'invalid_format #/path/attachmentId',
  ]);
  expect(problems(deleteAttachment, { path: { ...ticketId, attachmentId: 'abcd1234' } })).toEqual([]);
});

// spec: 16.1
test('reports the missing members of a filter', () => {
  expect(problems(searchTickets, { body: { filters: [{}, { key: 1, comparator: '=' }] } })).toEqual([
    'wrong_type #/filters/1/key',
    'required #/filters/0/key',
    'required #/filters/0/comparator',
  ]);
});

// guarantee: I33
test('accepts 64 levels of nesting and refuses one more', () => {
  const body = (levels: number) => `{"channel":"email","x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  expect(problems(createTicket, { text: body(63) })).toEqual(['unknown_field #/x']);
  expect(problems(createTicket, { text: body(64) })).toEqual([`too_deep #/x${'/0'.repeat(63)}`]);
});

test('accepts open data only up to the depth that every RPC client can read', () => {
  const rawData = JSON.parse(`${'{"a":'.repeat(32)}1${'}'.repeat(32)}`);
  const value = JSON.parse(`${'{"a":'.repeat(32)}1${'}'.repeat(32)}`);
  const requests: [DescMethod, unknown][] = [
    [createTicket, { channel: 'email', rawData }],
    [searchTickets, { filters: [{ key: 'a', comparator: '=', value }] }],
  ];
  for (const [method, body] of requests) {
    const { input } = method;
    const message: Message = read(method, { body });
    expect(equals(input, fromBinary(input, toBinary(input, message)), message)).toBe(true);
  }
});

test('gives each request a message of its own', () => {
  const body = { channel: 'email' };
  expect(read(createTicket, { body })).not.toBe(read(createTicket, { body }));
  expect(read(createTicket, { body })).toEqual(read(createTicket, { body }));
});

test('refuses a route that names a field which the request does not have', () => {
  const rule = readRestRule(getTicket);
  expect(() => toBinding(getTicket, { ...rule, path: '/ticket/{nope}' } as never)).toThrow('has no field nope');
});
