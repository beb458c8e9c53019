import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { expect, test } from 'vitest';
import { fieldChanges } from './event.ts';

test('lists the old and the new value of an enum, but only the field name of a text', () => {
  const before = { status: TicketStatus.OPEN, subject: 'a' };
  const after = { status: TicketStatus.CLOSED, subject: 'b' };
  expect(fieldChanges(['status', 'subject'], before, after)).toEqual([
    { field: 'status', oldValue: 'open', newValue: 'closed' },
    { field: 'subject' },
  ]);
});

test('does not list fields that every change sets or that are derived from other fields', () => {
  const texts = ['bodyHtml', 'bodyPlain', 'bodyClean', 'bodyRules'] as const;
  const fields = ['version', 'modifiedAt', ...texts, 'body'] as const;
  expect(fieldChanges(fields, {}, {})).toEqual([{ field: 'body' }]);
});

test('lists null as a value', () => {
  expect(fieldChanges(['agentId'], { agentId: null }, { agentId: 4 })).toEqual([
    { field: 'agentId', oldValue: null, newValue: 4 },
  ]);
});
