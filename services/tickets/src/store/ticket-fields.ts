import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { GenEnum } from '@bufbuild/protobuf/codegenv2';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import {
  AiSupportLevel,
  AiSupportLevelSchema,
  type Channel,
  ChannelSchema,
  Direction,
  DirectionSchema,
  Priority,
  PrioritySchema,
  type SpamStatus,
  SpamStatusSchema,
  TicketStatus,
  TicketStatusSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { AiProcess, AiProcessSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { formatDateTime } from '@ticketing/rest/date-time.ts';
import { spellingsOf } from '@ticketing/rest/options.ts';

/**
 * How one field of a ticket is kept, and how it travels: in memory it is a `Value`; the document and the message have
 * forms of their own.
 */
export interface Field<Value> {
  /** The mongoose type of the field in the document. */
  type: unknown;
  /** The value of a new ticket. */
  initial: Value;
  store(value: Value): unknown;
  load(stored: never): Value;
  toMessage(value: Value): unknown;
  fromMessage(value: never): Value;
  /** What an event tells of the value: enums, ids and times; undefined for what it must not tell. */
  toEvent: ((value: Value) => JsonValue) | undefined;
}

/** A field whose value is the same everywhere; unset is null in memory and document, absent in the message. */
function plain<Value>(type: unknown, initial: Value, inEvents: boolean): Field<Value> {
  return {
    type,
    initial,
    store: (value) => value,
    load: (stored) => (stored as Value | undefined) ?? initial,
    toMessage: (value) => value ?? undefined,
    fromMessage: (value) => value as Value,
    toEvent: inEvents ? (value) => value as JsonValue : undefined,
  };
}

const text = () => plain<string | null>(String, null, false);
const id = () => plain<number | null>(Number, null, true);
/** An id that others give. Its value is not told in events, as they outlive the ticket. */
const textId = () => plain<string | null>(String, null, false);
const texts = () => plain<readonly string[]>([String], [], false);
const ids = () => plain<readonly number[]>([Number], [], true);
const integer = (initial: number) => plain<number>(Number, initial, true);

/** A time: Unix seconds in memory, a date in the document. */
function time(): Field<number | null> {
  return {
    type: Date,
    initial: null,
    store: (value) => (value === null ? null : new Date(value * 1000)),
    load: (stored: Date | null | undefined) => (stored ? stored.getTime() / 1000 : null),
    toMessage: (value) => (value === null ? undefined : timestampOf(value)),
    fromMessage: (value: Timestamp) => Number(value.seconds),
    toEvent: (value) => (value === null ? null : formatDateTime(value)),
  };
}

/** The message form of Unix seconds. */
export function timestampOf(seconds: number): Timestamp {
  return { $typeName: 'google.protobuf.Timestamp', seconds: BigInt(seconds), nanos: 0 };
}

/** An enum, kept in the document as the specification spells it. */
function spelled<Value extends number | null>(schema: GenEnum<number>, initial: Value): Field<Value> {
  const spellings = spellingsOf(schema);
  const numbers = new Map([...spellings].map(([number, spelling]) => [spelling, number]));
  const spell = (value: Value) => (value === null ? null : (spellings.get(value) ?? null));
  return {
    ...plain<Value>(String, initial, true),
    store: spell,
    load: (stored) => (numbers.get(stored) ?? initial) as Value,
    toEvent: spell,
  };
}

/** An enum that sorts by rank: its number is kept. */
function ranked<Value extends number>(schema: GenEnum<number>, initial: Value): Field<Value> {
  const spellings = spellingsOf(schema);
  return { ...plain<Value>(Number, initial, true), toEvent: (value) => spellings.get(value) ?? null };
}

/** An object of open shape, kept as JSON text: any key is allowed in it, and nothing queries it. */
function json(): Field<string | null> {
  return {
    ...plain<string | null>(String, null, false),
    toMessage: (value) => (value === null ? undefined : (JSON.parse(value) as JsonObject)),
    fromMessage: (value: JsonObject) => JSON.stringify(value),
  };
}

/**
 * Every field of a ticket that is kept, under its name in the contract. A field of the contract that is not here is
 * computed (`api/ticket-message.ts`).
 */
export const ticketFields = {
  version: integer(1),
  direction: spelled<Direction>(DirectionSchema, Direction.IN),
  from: text(),
  fromName: text(),
  to: texts(),
  cc: texts(),
  bcc: texts(),
  subchannelId: id(),
  externalTicketId: textId(),
  interface: plain<string>(String, 'internal', true),
  sentiment: text(),
  language: text(),
  languageCode: text(),
  aiSupportLevel: spelled<AiSupportLevel>(AiSupportLevelSchema, AiSupportLevel.UNPROCESSED),
  spamStatus: spelled<SpamStatus | null>(SpamStatusSchema, null),
  priority: ranked<Priority>(PrioritySchema, Priority.LOW),
  channel: spelled<Channel>(ChannelSchema, 0),
  status: spelled<TicketStatus>(TicketStatusSchema, TicketStatus.OPEN),
  summary: text(),
  subject: text(),
  body: text(),
  bodyPlain: text(),
  bodyClean: text(),
  createdAt: time(),
  modifiedAt: time(),
  firstResponseDueBy: time(),
  dueBy: time(),
  lastMessageAt: time(),
  lastCustomerMessageAt: time(),
  customerId: textId(),
  contractId: textId(),
  partnerId: id(),
  customerLegitimation: integer(0),
  customerLegitimationMessage: text(),
  agentId: id(),
  tagIds: ids(),
  aiAgentIds: ids(),
  rawData: json(),
  workitem: json(),
  clientData: json(),
  autoExecuteAt: time(),
  channelId: textId(),
  closedAt: time(),
  lastResponseAuthorId: id(),
  createdBy: id(),
  /** When the AI logic is to run for the ticket. */
  process: spelled<AiProcess>(AiProcessSchema, AiProcess.BATCH),
};

type Fields = typeof ticketFields;

/** The name of a field that is kept. */
export type TicketFieldName = keyof Fields;

/** A ticket in memory: what the rules of `domain/` work on. */
export type TicketState = { id: number } & {
  [Name in TicketFieldName]: Fields[Name] extends Field<infer Value> ? Value : never;
};

/** The names of all fields that are kept. */
export const ticketFieldNames = Object.keys(ticketFields) as TicketFieldName[];

/** A field without its type, for code that walks over all of them. */
export function fieldOf(name: TicketFieldName): Field<unknown> {
  return ticketFields[name] as unknown as Field<unknown>;
}

/** The values of a ticket of which nothing has been given. */
export const initialTicket: Readonly<Omit<TicketState, 'id'>> = Object.freeze(
  Object.fromEntries(ticketFieldNames.map((name) => [name, fieldOf(name).initial])) as Omit<TicketState, 'id'>,
);
