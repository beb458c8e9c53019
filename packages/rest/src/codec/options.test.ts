import { hasOption } from '@bufbuild/protobuf';
import { Health, HealthCheckRequestSchema } from '@ticketing/contracts/grpc/health/v1/health_pb.ts';
import { rules } from '@ticketing/contracts/ticketing/api/v1/options_pb.ts';
import { ChannelSchema, SpamStatusSchema } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  CreateTagRequestSchema,
  UpdateTagRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import {
  AiProcessSchema,
  CreateTicketRequestSchema,
  RefreshModeSchema,
  TicketService,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { expect, test } from 'vitest';
import {
  fieldNamed,
  readAccessRule,
  readFieldRules,
  readJsonForm,
  readResource,
  readRestRule,
  readSpellings,
} from './options.ts';

// spec: 4.2, 4.6
test('spells enums as the API does, without the unspecified zero', () => {
  expect([...readSpellings(ChannelSchema).values()]).toEqual([
    'email',
    'portal',
    'phone',
    'letter',
    'system',
    'chat',
    'walkIn',
  ]);
  expect([...readSpellings(SpamStatusSchema).values()]).toEqual([
    'auto_spam',
    'auto_clean',
    'auto_programmatic',
    'manual_spam',
    'manual_clean',
  ]);
  expect([...readSpellings(RefreshModeSchema).values()]).toEqual([
    'full',
    'summaryAndText',
    'customer',
    'tags',
    'agents',
  ]);
  expect([...readSpellings(AiProcessSchema).values()]).toEqual(['realtime', 'batch', 'false']);
  expect(readSpellings(ChannelSchema).has(0)).toBe(false);
});

test('has no two values of an enum with the same spelling', () => {
  for (const desc of [...TicketService.file.enums, ...TicketService.file.dependencies.flatMap((file) => file.enums)]) {
    const spellings = [...readSpellings(desc).values()];
    expect([desc.name, new Set(spellings).size]).toEqual([desc.name, spellings.length]);
  }
});

test('distinguishes a method without access or route from one that has them', () => {
  expect(readAccessRule(TicketService.method.deleteTicket)).toEqual({ case: 'right', value: 'deleteTicket' });
  expect(readAccessRule(Health.method.check)).toBeUndefined();
  expect(readRestRule(TicketService.method.getTicket)?.path).toBe('/ticket/{ticket_id}');
  expect(readRestRule(Health.method.check)).toBeUndefined();
});

test('reads the options of fields and messages, and their defaults', () => {
  const channel = fieldNamed(CreateTicketRequestSchema, 'channel');
  const body = fieldNamed(CreateTicketRequestSchema, 'body');
  expect([readFieldRules(channel).required, readFieldRules(body).required, readFieldRules(body).maxBytes]).toEqual([
    true,
    false,
    5_242_880,
  ]);
  expect(readJsonForm(body).omitWhenUnset).toBe(false);
  expect(readResource(CreateTicketRequestSchema)).toBe('ticketing.tickets.v1.Ticket');
  expect(readResource(HealthCheckRequestSchema)).toBe('');
});

test('takes over the rules of the field that a field is like, of which a PATCH has neither requirement nor default', () => {
  const [created, updated] = [CreateTagRequestSchema, UpdateTagRequestSchema].map((message) =>
    fieldNamed(message, 'name'),
  );
  expect(hasOption(fieldNamed(UpdateTagRequestSchema, 'color'), rules)).toBe(false);
  expect(readFieldRules(fieldNamed(UpdateTagRequestSchema, 'color'))).toEqual(
    readFieldRules(fieldNamed(CreateTagRequestSchema, 'color')),
  );
  expect([created, updated].map((field) => field && readFieldRules(field).required)).toEqual([true, false]);
});

test('refuses a name that a message does not have', () => {
  expect(() => fieldNamed(CreateTicketRequestSchema, 'fromName')).toThrow('has no field fromName');
});
