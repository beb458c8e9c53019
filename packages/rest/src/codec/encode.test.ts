import { create, fromJson } from '@bufbuild/protobuf';
import { type Timestamp, ValueSchema } from '@bufbuild/protobuf/wkt';
import { ListTagsResponseSchema } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketSchema, TicketSummarySchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import {
  GetTicketResponseSchema,
  SearchTicketsResponseSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { expect, test } from 'vitest';
import { probeMessage } from '../../test/probe-contract.ts';
import { flagsThatShow, messageEncoder } from './encode.ts';

const at = (seconds: number) => ({ seconds: BigInt(seconds), nanos: 0 });

// spec: 3.2
test('writes unset fields as null, empty lists as lists and defaults as they are', () => {
  const json = messageEncoder(ListTagsResponseSchema)(
    create(ListTagsResponseSchema, { success: true, tags: [{ id: 7, name: 'Tag' }] }),
  );
  expect(json).toEqual({
    success: true,
    tags: [
      {
        id: 7,
        name: 'Tag',
        fullName: '',
        parent: null,
        reference: null,
        type: null,
        visibility: null,
        color: null,
        routingRelevant: false,
        sla: null,
        firstResponseSla: null,
        priority: null,
        detection: null,
        modifiedAt: null,
      },
    ],
    total: 0,
  });
});

test('writes enums in the spelling of the API and an unknown number as null', () => {
  const encode = messageEncoder(TicketSummarySchema);
  expect(encode(create(TicketSummarySchema, { spamStatus: 4, channel: 7, status: 2 }))).toMatchObject({
    spamStatus: 'manual_spam',
    channel: 'walkIn',
    status: 'pending',
  });
  expect(encode(create(TicketSummarySchema, { status: 99 as never }))).toMatchObject({ status: null });
});

test('leaves out only the unset fields that are declared so, and keeps the order of the contract', () => {
  const omitted = { '[ticketing.api.v1.json]': { omitWhenUnset: true } };
  const probe = probeMessage(
    [
      { name: 'first', type: 'TYPE_STRING', proto3Optional: true, oneofIndex: 0 },
      { name: 'second', type: 'TYPE_STRING', proto3Optional: true, oneofIndex: 1, options: omitted },
      { name: 'third', type: 'TYPE_STRING', proto3Optional: true, oneofIndex: 2 },
    ],
    ['_first', '_second', '_third'],
  );
  const written = (message: object) => Object.entries(messageEncoder(probe)(Object.assign(create(probe), message)));
  expect(written({})).toEqual([
    ['first', null],
    ['third', null],
  ]);
  expect(written({ third: 'c', second: '', first: 'a' })).toEqual([
    ['first', 'a'],
    ['second', ''],
    ['third', 'c'],
  ]);
});

// spec: 6.56
test('writes a field with shown_by only for its flag, also in nested messages', () => {
  const flag = { '[ticketing.api.v1.json]': { shownBy: 'include_raw_data' } };
  const probe = probeMessage([
    { name: 'data', type: 'TYPE_MESSAGE', typeName: '.google.protobuf.Struct', options: flag },
    { name: 'children', type: 'TYPE_MESSAGE', typeName: '.probe.Probe', label: 'LABEL_REPEATED' },
  ]);
  const tree = Object.assign(create(probe), { children: [create(probe)] });
  expect(messageEncoder(probe)(tree)).toEqual({ children: [{ children: [] }] });
  expect(messageEncoder(probe, 'another_flag')(tree)).toEqual({ children: [{ children: [] }] });
  expect(messageEncoder(probe, 'include_raw_data')(tree)).toEqual({
    data: null,
    children: [{ data: null, children: [] }],
  });
  expect([...flagsThatShow(probe)]).toEqual(['include_raw_data']);
});

// spec: 3.1
test('writes dates in UTC, and in RFC 3339 if the contract declares it', () => {
  const message = create(GetTicketResponseSchema, {
    ticket: { createdAt: at(1_714_979_289), closedAt: at(-1) },
    sessions: { items: [{ id: 's', createdAt: at(1_714_979_289) }] },
  });
  expect(messageEncoder(GetTicketResponseSchema)(message)).toMatchObject({
    createdAt: '2024-05-06 07:08:09',
    closedAt: '1969-12-31 23:59:59',
    sessions: [{ createdAt: '2024-05-06T07:08:09Z', lastActivityAt: null }],
  });
});

test('puts the fields of an inline message into the object itself and leaves out sessions if they are unset', () => {
  const json = messageEncoder(GetTicketResponseSchema)(
    create(GetTicketResponseSchema, { ticket: { id: 5 }, nextTicketId: 6 }),
  );
  expect(json).toMatchObject({ id: 5, prevTicketId: null, nextTicketId: 6 });
  expect(json).not.toHaveProperty('ticket');
  expect(json).not.toHaveProperty('sessions');
});

test('makes a new object for each message', () => {
  const encode = messageEncoder(SearchTicketsResponseSchema);
  const message = create(SearchTicketsResponseSchema, { total: 1 });
  expect(encode(message)).not.toBe(encode(message));
});

test('compiles a message once', () => {
  expect(messageEncoder(TicketSchema)).toBe(messageEncoder(TicketSchema));
});

test('writes open JSON as it is', () => {
  const probe = probeMessage([
    { name: 'data', type: 'TYPE_MESSAGE', typeName: '.google.protobuf.Struct' },
    { name: 'value', type: 'TYPE_MESSAGE', typeName: '.google.protobuf.Value' },
    { name: 'dates', type: 'TYPE_MESSAGE', typeName: '.google.protobuf.Timestamp', label: 'LABEL_REPEATED' },
    { name: 'big', type: 'TYPE_INT64' },
  ]);
  const message = Object.assign(create(probe), {
    data: { a: [null, { $typeName: 'x' }] },
    value: fromJson(ValueSchema, [1, { b: null }]),
    dates: [at(0), at(1)] as Timestamp[],
    big: 5n,
  });
  expect(messageEncoder(probe)(message)).toEqual({
    data: { a: [null, { $typeName: 'x' }] },
    value: [1, { b: null }],
    dates: ['1970-01-01 00:00:00', '1970-01-01 00:00:01'],
    big: 5,
  });
});

test('writes a message that contains itself', () => {
  const probe = probeMessage([
    { name: 'name', type: 'TYPE_STRING' },
    { name: 'children', type: 'TYPE_MESSAGE', typeName: '.probe.Probe', label: 'LABEL_REPEATED' },
  ]);
  const leaf = Object.assign(create(probe), { name: 'leaf' });
  const root = Object.assign(create(probe), { name: 'root', children: [leaf] });
  expect(messageEncoder(probe)(root)).toEqual({ name: 'root', children: [{ name: 'leaf', children: [] }] });
});

test.each([
  ['a type without a JSON form', [{ name: 'a', type: 'TYPE_BYTES' }], []],
  ['a oneof', [{ name: 'a', type: 'TYPE_STRING', oneofIndex: 0 }], ['kind']],
  [
    'an unwrapped message of two fields',
    [
      {
        name: 'a',
        type: 'TYPE_MESSAGE',
        typeName: '.google.protobuf.Duration',
        options: { '[ticketing.api.v1.json]': { unwrap: true } },
      },
    ],
    [],
  ],
])('refuses to compile %s', (_, fields, oneofs) => {
  expect(() => messageEncoder(probeMessage(fields, oneofs))).toThrow(
    /has no JSON form|only one field can be unwrapped/,
  );
});
