import { EventEmitter } from 'node:events';
import { create, fromJson } from '@bufbuild/protobuf';
import { timestampFromDate, ValueSchema } from '@bufbuild/protobuf/wkt';
import {
  ChangeCause,
  TicketChangedSchema,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { expect, test } from 'vitest';
import { queueAnalyses } from './request-analyses.ts';

const values = (oldValue: string | null, newValue: string) => ({
  oldValue: fromJson(ValueSchema, oldValue),
  newValue: fromJson(ValueSchema, newValue),
});
const changed = (oldValue: string | null, newValue: string) =>
  create(TicketChangedSchema, {
    ticketId: 7,
    type: TicketChangeType.TICKET_UPDATED,
    changes: [{ field: 'status' }, { field: 'spamStatus', ...values(oldValue, newValue) }],
  });
const created = (...changes: { field: string }[]) =>
  create(TicketChangedSchema, { ticketId: 8, type: TicketChangeType.TICKET_CREATED, changes });
const createdWith = (process: string) => created({ field: 'process', ...values('batch', process) });
const createdAt = (text: string) => ({
  ...created({ field: 'createdAt', ...values(null, text) }),
  occurredAt: timestampFromDate(new Date('2024-02-02T10:00:00Z')),
});
const imported = [
  { ticketId: 8, mode: 'created' },
  { ticketId: 8, mode: 'imported' },
];
const whole = [
  { ticketId: 7, mode: 'first' },
  { ticketId: 7, mode: 'full' },
];

test.each([
  ['a new ticket', created(), [{ ticketId: 8, mode: 'created' }]],
  ['a new ticket whose analysis was awaited', createdWith('realtime'), [{ ticketId: 8, mode: 'created' }]],
  ['a new ticket that waits for its first reader', createdWith('false'), undefined],
  ['a ticket that was created in bulk', { ...created(), cause: ChangeCause.IMPORT }, imported],
  ['a ticket of the day before', createdAt('2024-02-01T09:59:59Z'), imported],
  ['a ticket of a day', createdAt('2024-02-01T10:00:00Z'), [{ ticketId: 8, mode: 'created' }]],
  ['spam of the classifier that is clean', changed('auto_spam', 'manual_clean'), whole],
  ['a mail of a program that is clean', changed('auto_programmatic', 'manual_clean'), whole],
  ['spam of a person that is clean', changed('manual_spam', 'manual_clean'), whole],
  ['a clean ticket that stays clean', changed('auto_clean', 'manual_clean'), undefined],
  ['a ticket that nobody has judged before', changed(null, 'manual_clean'), undefined],
  ['spam that stays spam', changed('auto_spam', 'manual_spam'), undefined],
])('what is queued for %s', async (_, change, expected) => {
  const requested: unknown[] = [];
  const analyses = { request: async (given: unknown) => void requested.push(given) };
  await queueAnalyses({ analyses, signals: new EventEmitter() }, [change]);
  expect(requested).toEqual(expected ? [expected] : []);
});
