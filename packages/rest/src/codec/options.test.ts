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
import { accessOf, fieldNamed, jsonFormOf, resourceOf, restRuleOf, rulesOf, spellingsOf } from './options.ts';

// spec: 4.2, 4.6
test('spells enums as the API does, without the unspecified zero', () => {
  expect([...spellingsOf(ChannelSchema).values()]).toEqual([
    'email',
    'portal',
    'phone',
    'letter',
    'system',
    'chat',
    'walkIn',
  ]);
  expect([...spellingsOf(SpamStatusSchema).values()]).toEqual([
    'auto_spam',
    'auto_clean',
    'auto_programmatic',
    'manual_spam',
    'manual_clean',
  ]);
  expect([...spellingsOf(RefreshModeSchema).values()]).toEqual([
    'full',
    'summaryAndText',
    'customer',
    'tags',
    'agents',
  ]);
  expect([...spellingsOf(AiProcessSchema).values()]).toEqual(['realtime', 'batch', 'false']);
  expect(spellingsOf(ChannelSchema).has(0)).toBe(false);
});

test('has no two values of an enum with the same spelling', () => {
  for (const desc of [...TicketService.file.enums, ...TicketService.file.dependencies.flatMap((file) => file.enums)]) {
    const spellings = [...spellingsOf(desc).values()];
    expect([desc.name, new Set(spellings).size]).toEqual([desc.name, spellings.length]);
  }
});

test('distinguishes a method without access or route from one that has them', () => {
  expect(accessOf(TicketService.method.deleteTicket)).toEqual({ case: 'right', value: 'deleteTicket' });
  expect(accessOf(Health.method.check)).toBeUndefined();
  expect(restRuleOf(TicketService.method.getTicket)?.path).toBe('/ticket/{ticket_id}');
  expect(restRuleOf(Health.method.check)).toBeUndefined();
});

test('reads the options of fields and messages, and their defaults', () => {
  const channel = fieldNamed(CreateTicketRequestSchema, 'channel');
  const body = fieldNamed(CreateTicketRequestSchema, 'body');
  expect([rulesOf(channel).required, rulesOf(body).required, rulesOf(body).maxBytes]).toEqual([true, false, 5_242_880]);
  expect(jsonFormOf(body).omitWhenUnset).toBe(false);
  expect(resourceOf(CreateTicketRequestSchema)).toBe('ticketing.tickets.v1.Ticket');
  expect(resourceOf(HealthCheckRequestSchema)).toBe('');
});

test('takes over the rules of the field that a field is like, of which a PATCH has neither requirement nor default', () => {
  const [created, updated] = [CreateTagRequestSchema, UpdateTagRequestSchema].map((message) =>
    fieldNamed(message, 'name'),
  );
  expect(hasOption(fieldNamed(UpdateTagRequestSchema, 'color'), rules)).toBe(false);
  expect(rulesOf(fieldNamed(UpdateTagRequestSchema, 'color'))).toEqual(
    rulesOf(fieldNamed(CreateTagRequestSchema, 'color')),
  );
  expect([created, updated].map((field) => field && rulesOf(field).required)).toEqual([true, false]);
});

test('refuses a name that a message does not have', () => {
  expect(() => fieldNamed(CreateTicketRequestSchema, 'fromName')).toThrow('has no field fromName');
});
