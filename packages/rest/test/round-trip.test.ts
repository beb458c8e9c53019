import { type DescMessage, equals, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import { TagSchema } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import { CreateTagRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketSchema, TicketSummarySchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import {
  CreateTicketRequestSchema,
  GetLatestTicketsRequestSchema,
  type GetTicketResponse,
  GetTicketResponseSchema,
  SearchTicketsRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileMessageDecoder, Problems } from '../src/codec/decode.ts';
import { messageEncoder } from '../src/codec/encode.ts';
import { readJsonForm, readSpellings } from '../src/codec/options.ts';
import { arbitraryMessage } from './arbitrary-message.ts';
import { probeMessage } from './probe-contract.ts';

const everyKind = probeMessage(
  [
    { name: 'whole', type: 'TYPE_INT64' },
    { name: 'maybe_whole', type: 'TYPE_INT64', proto3Optional: true, oneofIndex: 0 },
    { name: 'number', type: 'TYPE_DOUBLE' },
    { name: 'numbers', type: 'TYPE_DOUBLE', label: 'LABEL_REPEATED' },
    { name: 'flags', type: 'TYPE_BOOL', label: 'LABEL_REPEATED' },
    { name: 'dates', type: 'TYPE_MESSAGE', typeName: '.google.protobuf.Timestamp', label: 'LABEL_REPEATED' },
    { name: 'structs', type: 'TYPE_MESSAGE', typeName: '.google.protobuf.Struct', label: 'LABEL_REPEATED' },
    { name: 'value', type: 'TYPE_MESSAGE', typeName: '.google.protobuf.Value' },
  ],
  ['_maybe_whole'],
);

const roundTrips: [DescMessage, number][] = [
  [CreateTicketRequestSchema, 100],
  [SearchTicketsRequestSchema, 100],
  [GetLatestTicketsRequestSchema, 50],
  [CreateTagRequestSchema, 100],
  [TagSchema, 100],
  [TicketSummarySchema, 40],
  [TicketSchema, 30],
  [everyKind, 100],
];

test.each(roundTrips)('decodes from JSON the same %s that was encoded', (schema, numRuns) => {
  const encode = messageEncoder(schema);
  const decode = compileMessageDecoder(schema);
  fc.assert(
    fc.property(arbitraryMessage(schema), (message) => {
      const problems = new Problems();
      const read = decode(JSON.parse(JSON.stringify(encode(message))), '#', problems);
      expect(problems.violations).toEqual([]);
      expect(equals(schema, read as Message, message)).toBe(true);
    }),
    { numRuns },
  );
});

test.each<DescMessage>([CreateTicketRequestSchema, SearchTicketsRequestSchema])(
  'reads a %s that every RPC client can carry',
  (schema) => {
    const decode = compileMessageDecoder(schema);
    fc.assert(
      fc.property(arbitraryMessage(schema), (message) => {
        const read = decode(
          JSON.parse(JSON.stringify(messageEncoder(schema)(message))),
          '#',
          new Problems(),
        ) as Message;
        expect(equals(schema, fromBinary(schema, toBinary(schema, read)), read)).toBe(true);
      }),
      { numRuns: 50 },
    );
  },
);

/** Checks an encoded message against its contract, field by field, without code of the encoder. */
function checkWritten(schema: DescMessage, message: Record<string, unknown>, json: Record<string, unknown>): void {
  const expected = schema.fields.filter(
    (field) =>
      (!readJsonForm(field).omitWhenUnset && readJsonForm(field).shownBy === '') ||
      message[field.localName] !== undefined,
  );
  expect(Object.keys(json)).toEqual(expected.map((field) => field.jsonName));
  for (const field of expected) {
    const [value, written] = [message[field.localName], json[field.jsonName]];
    expect(written).not.toBeUndefined();
    if (value === undefined) expect(written).toBeNull();
    else if (field.fieldKind === 'list') expect(written).toHaveLength((value as unknown[]).length);
    else if (field.enum) expect(written).toBe(readSpellings(field.enum).get(value as number));
    else if (field.message?.typeName === 'google.protobuf.Timestamp') {
      const iso = new Date(Number((value as { seconds: bigint }).seconds) * 1000).toISOString().slice(0, 19);
      expect(written).toBe(iso.replace('T', ' '));
    } else if (field.message?.typeName.startsWith('ticketing.')) {
      checkWritten(field.message, value as Record<string, unknown>, written as Record<string, unknown>);
    } else expect(written).toEqual(value);
  }
}

test.each([
  [TagSchema, 100],
  [TicketSummarySchema, 40],
  [TicketSchema, 40],
] as [DescMessage, number][])('writes every field of a %s: null, spelling and date as specified', (schema, numRuns) => {
  fc.assert(
    fc.property(arbitraryMessage(schema), (message) => {
      checkWritten(schema, message as never, messageEncoder(schema)(message));
    }),
    { numRuns },
  );
});

test('encodes a ticket response with the ticket in the object itself, and the sessions as a list if there are any', () => {
  const ticketKeys = (message: GetTicketResponse) =>
    Object.keys(messageEncoder(TicketSchema)(message.ticket as Message));
  fc.assert(
    fc.property(arbitraryMessage(GetTicketResponseSchema), (message) => {
      const response = message as GetTicketResponse;
      fc.pre(response.ticket !== undefined);
      const json = messageEncoder(GetTicketResponseSchema)(message);
      expect(Object.keys(json)).toEqual([
        ...ticketKeys(response),
        'prevTicketId',
        'nextTicketId',
        ...(response.sessions ? ['sessions'] : []),
      ]);
      expect(Object.values(json)).not.toContain(undefined);
      if (response.sessions) expect(json.sessions).toHaveLength(response.sessions.items.length);
    }),
    { numRuns: 30 },
  );
});
