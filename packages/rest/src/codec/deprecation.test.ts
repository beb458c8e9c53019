import { create } from '@bufbuild/protobuf';
import { TicketSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import {
  CreateTicketRequestSchema,
  UpdateTicketsRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { expect, test } from 'vitest';
import { deprecationCheck } from './deprecation.ts';

const usesDeprecated = deprecationCheck(UpdateTicketsRequestSchema);
const bulk = (...tickets: object[]) => usesDeprecated?.(create(UpdateTicketsRequestSchema, { tickets }));

// spec: 41.5
test('finds a deprecated field that is given, in any element of a list', () => {
  expect(bulk({ id: 1 }, { id: 2, refresh: true })).toBe(true);
  expect(bulk({ id: 1, refreshTags: false })).toBe(true);
});

test('returns false if no deprecated field is given', () => {
  expect(bulk()).toBe(false);
  expect(bulk({ id: 1, refreshMode: 1 }, { id: 2 })).toBe(false);
});

test('finds a deprecated list that is not empty', () => {
  const check = deprecationCheck(TicketSchema);
  expect(check?.(create(TicketSchema, { ccEmails: ['a'] }))).toBe(true);
  expect(check?.(create(TicketSchema, { cc: ['a'] }))).toBe(false);
});

test('is undefined for a message without deprecated fields', () => {
  expect(deprecationCheck(CreateTicketRequestSchema)).toBeUndefined();
});
