import { create, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { FieldChangeSchema, TicketChangedSchema } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { messageEncoder } from '@ticketing/rest/codec/encode.ts';
import { expect, test } from 'vitest';
import { parseEvent, toErasedBytes, toErasedEvent } from './event.ts';

const encode = messageEncoder(TicketChangedSchema);

function changed(...changes: [field: string, oldValue: JsonValue, newValue: JsonValue][]) {
  return create(TicketChangedSchema, {
    eventId: 'evt_1',
    ticketId: 1,
    version: 2,
    changes: changes.map(([field, oldValue, newValue]) =>
      create(FieldChangeSchema, {
        field,
        oldValue: fromJson(ValueSchema, oldValue),
        newValue: fromJson(ValueSchema, newValue),
      }),
    ),
  });
}

test('the times of an older version are spelt as RFC 3339, those of this one stay, and so do other values', () => {
  const stored = changed(
    ['dueBy', null, '2026-01-31 09:10:00'],
    ['closedAt', '2026-01-31 09:10:00', '2026-01-31T09:11:00Z'],
    ['externalTicketId', null, '2026-01-31 09:10:00'],
  );
  expect(encode(parseEvent(toBinary(TicketChangedSchema, stored))).changes).toEqual([
    { field: 'dueBy', oldValue: null, newValue: '2026-01-31T09:10:00Z' },
    { field: 'closedAt', oldValue: '2026-01-31T09:10:00Z', newValue: '2026-01-31T09:11:00Z' },
    { field: 'externalTicketId', oldValue: null, newValue: '2026-01-31 09:10:00' },
  ]);
});

test('the event of a deleted ticket keeps its values of enums and times, and of everything else the names', () => {
  const event = changed(
    ['status', 'open', 'closed'],
    ['dueBy', null, '2026-01-31T09:10:00Z'],
    ['customerId', null, 'K-1'],
    ['contractId', 'V-1', 'V-2'],
    ['externalTicketId', null, 'E-1'],
    ['channelId', 'C-1', null],
    ['agentId', 7, 8],
    ['tagIds', [3], [3, 4]],
    ['aFieldOfALaterVersion', 'x', 'y'],
  );
  expect(encode(toErasedEvent(event))).toEqual({
    ...encode(event),
    changes: [
      { field: 'status', oldValue: 'open', newValue: 'closed' },
      { field: 'dueBy', oldValue: null, newValue: '2026-01-31T09:10:00Z' },
      ...['customerId', 'contractId', 'externalTicketId', 'channelId', 'agentId', 'tagIds'].map((field) => ({ field })),
      { field: 'aFieldOfALaterVersion' },
    ],
  });
  const bytes = toErasedBytes(toBinary(TicketChangedSchema, event));
  expect(encode(parseEvent(bytes))).toEqual(encode(toErasedEvent(event)));
  expect(toErasedBytes(bytes)).toEqual(bytes);
});
