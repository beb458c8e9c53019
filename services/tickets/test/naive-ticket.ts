import {
  AiSupportLevelSchema,
  ChannelSchema,
  DirectionSchema,
  PrioritySchema,
  SpamStatusSchema,
  TicketStatusSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { readSpellings } from '@ticketing/rest/codec/options.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { splitWords } from '@ticketing/text/words.ts';
import fc from 'fast-check';
import { createdEvent } from '../src/ticket/rules/event.ts';
import { initialTicket, type TicketState } from '../src/ticket/rules/fields.ts';
import { searchedTexts } from '../src/ticket/rules/search-words.ts';
import { toDocument } from '../src/ticket/store/document.ts';
import type { TicketsHarness } from './harness.ts';

/** A ticket as docs/reference/api.md, Ticket fields, describes it: enums as spelled there, times in Unix seconds. */
export interface NaiveTicket {
  id: number;
  channel: string;
  direction: string;
  status: string;
  priority: string;
  aiSupportLevel: string;
  spamStatus: string | null;
  subject: string | null;
  summary: string | null;
  bodyPlain: string | null;
  from: string | null;
  fromName: string | null;
  sentiment: string | null;
  language: string | null;
  languageCode: string | null;
  channelId: string | null;
  callerNumber: string | null;
  customerId: string | null;
  contractId: string | null;
  externalTicketId: string | null;
  subchannelId: number | null;
  agentId: number | null;
  partnerId: number | null;
  createdBy: number | null;
  createdAt: number;
  modifiedAt: number;
  firstResponseDueBy: number | null;
  dueBy: number | null;
  lastMessageAt: number | null;
  lastCustomerMessageAt: number | null;
  closedAt: number | null;
  tagIds: readonly number[];
  aiAgentIds: readonly number[];
}

/** The values of the enums, from docs/reference/api.md, Enumerations; those of priority in the order of their rank. */
export const spellings = {
  channel: ['email', 'portal', 'phone', 'letter', 'system', 'chat', 'walkIn'],
  direction: ['in', 'out', 'internal'],
  status: ['open', 'pending', 'closed'],
  priority: ['low', 'medium', 'high', 'urgent'],
  aiSupportLevel: ['unprocessed', 'human', 'bot', 'automated'],
  spamStatus: ['auto_spam', 'auto_clean', 'auto_programmatic', 'manual_spam', 'manual_clean'],
} as const;

/**
 * Texts that are difficult to compare: accents, letters whose upper case is longer, wildcards, operators, characters of
 * two code units.
 */
export const texts = [
  'Rechnung',
  'RECHNUNG für Straße',
  'Strasse',
  'STRAẞE',
  'Größe é',
  'Gro\u0308ße e\u0301',
  'café au lait',
  'cafe',
  'ΟΔΟΣ οδος',
  '100%',
  'a.b*c',
  '(x)|[y]',
  '^$\\z\\',
  '{"$gt":""}',
  '$where',
  'eine\nzweite Zeile',
  '😀 smile',
  '￭',
  'null',
  '0',
  '',
  ' ',
  'a\0b',
];

const day = 86_400;

const midnight = Math.floor(Date.now() / 1000 / day) * day - 4 * day;

/** Times around the beginnings of days, all of them some days ago. */
export const times = [-day, -1, 0, 1, 43_200, day - 1, day, day + 43_200, 2 * day - 1].map((plus) => midnight + plus);

/** Any ticket, still without an id. */
export const anyTicket: fc.Arbitrary<NaiveTicket> = fc.record({
  id: fc.constant(0),
  channel: fc.oneof(fc.constantFrom(...spellings.channel), fc.constant('chat')),
  direction: fc.constantFrom(...spellings.direction),
  status: fc.constantFrom(...spellings.status),
  priority: fc.constantFrom(...spellings.priority),
  aiSupportLevel: fc.constantFrom(...spellings.aiSupportLevel),
  spamStatus: fc.option(fc.constantFrom(...spellings.spamStatus), { freq: 2 }),
  subject: textOrNull(),
  summary: textOrNull(),
  bodyPlain: textOrNull(),
  from: fc.option(fc.constantFrom('ada@example.org', 'ADA@example.org', 'böb@example.net', '+49 30 1234')),
  fromName: textOrNull(),
  sentiment: textOrNull(),
  language: fc.option(fc.constantFrom('German', 'english', 'Deutsch')),
  languageCode: fc.option(fc.constantFrom('de', 'en', 'DE')),
  channelId: textOrNull(),
  callerNumber: fc.option(fc.constantFrom('+49 30 1234', '0301234')),
  customerId: fc.option(fc.constantFrom('4711', 'K-4711', 'k-4711', '10', '9')),
  contractId: fc.option(fc.constantFrom('V.1', 'V-1', '4711')),
  externalTicketId: fc.option(fc.constantFrom('EXT-1', 'ext-2', '#3')),
  subchannelId: idOrNull(),
  agentId: idOrNull(),
  partnerId: idOrNull(),
  createdBy: idOrNull(),
  createdAt: fc.constantFrom(...times),
  modifiedAt: fc.constantFrom(...times),
  firstResponseDueBy: timeOrNull(),
  dueBy: timeOrNull(),
  lastMessageAt: timeOrNull(),
  // Customers are active for 300 s: none stops being so during the test.
  lastCustomerMessageAt: fc.option(
    fc.oneof(
      fc.constantFrom(...times),
      fc.integer({ min: -280, max: -220 }).map(secondsAgo),
      fc.constant(secondsAgo(330)),
    ),
    { freq: 4 },
  ),
  closedAt: timeOrNull(),
  tagIds: fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { maxLength: 4 }),
  aiAgentIds: fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 2 }),
});

function textOrNull(): fc.Arbitrary<string | null> {
  return fc.option(fc.constantFrom(...texts), { freq: 4 });
}

function idOrNull(): fc.Arbitrary<number | null> {
  return fc.option(fc.integer({ min: 1, max: 9 }), { freq: 3 });
}

function timeOrNull(): fc.Arbitrary<number | null> {
  return fc.option(fc.constantFrom(...times), { freq: 3 });
}

function secondsAgo(seconds: number): number {
  return Math.floor(Date.now() / 1000) - seconds;
}

/** Generates random tickets with ids from 1 upwards. */
export function randomTickets(count: number, seed: number): NaiveTicket[] {
  return fc.sample(anyTicket, { numRuns: count, seed }).map((ticket, index) => ({ ...ticket, id: index + 1 }));
}

/** Inserts tickets into the database directly, so that they can have any state. */
export async function insertTickets(harness: TicketsHarness, tickets: readonly NaiveTicket[]): Promise<void> {
  const documents = tickets.map((ticket) => {
    const state = stateOf(ticket);
    return toDocument(state, splitWords(searchedTexts(state)), {
      event: createdEvent(state, { eventId: `evt_${ticket.id}`, actor: testCaller() }),
    });
  });
  await harness.database.collection('tickets').insertMany(documents as never[]);
  const used = Math.max(...tickets.map(({ id }) => id));
  await harness.database
    .collection<{ _id: string; value: number }>('counters')
    .updateOne({ _id: 'ticket' }, { $max: { value: used } }, { upsert: true });
}

function stateOf(ticket: NaiveTicket): TicketState {
  return {
    ...initialTicket,
    ...ticket,
    channel: toNumber(ChannelSchema, ticket.channel),
    direction: toNumber(DirectionSchema, ticket.direction),
    status: toNumber(TicketStatusSchema, ticket.status),
    priority: toNumber(PrioritySchema, ticket.priority),
    aiSupportLevel: toNumber(AiSupportLevelSchema, ticket.aiSupportLevel),
    spamStatus: ticket.spamStatus === null ? null : toNumber(SpamStatusSchema, ticket.spamStatus),
  };
}

function toNumber(schema: Parameters<typeof readSpellings>[0], spelling: string): never {
  const found = [...readSpellings(schema)].find(([, text]) => text === spelling);
  if (!found) throw new Error(`${spelling} is not a value of ${schema.typeName}`);
  return found[0] as never;
}
