import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { GenEnum } from '@bufbuild/protobuf/codegenv2';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { type NotSentReason, NotSentReasonSchema } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
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
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { formatRfc3339, toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import { readSpellings } from '@ticketing/rest/codec/options.ts';
import type { MailThread } from '../../rules/mail-thread.ts';
import type { IntentState } from './intent.ts';
import type { AddressedMessage } from './reply-recipients.ts';

/**
 * One field of a ticket: its value in memory is a `Value`, and it has other forms in the document, message and event.
 */
export interface Field<Value> {
  /** The type of the field in the document, as a constructor: `String`, `[Number]`. */
  type: unknown;
  initial: Value;
  store(value: Value): unknown;
  load(stored: never): Value;
  toMessage(value: Value): unknown;
  fromMessage(value: never): Value;
  /** The value in an event; undefined for texts and objects: an event contains only the name of such a field. */
  toEvent: ((value: Value) => JsonValue) | undefined;
}

/**
 * A field whose value is the same everywhere; without a value it is null in memory and document, absent in the message.
 */
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

export const text = () => plain<string | null>(String, null, false);
export const texts = () => plain<readonly string[]>([String], [], false);
/** An id that this system has assigned. */
export const id = () => plain<number | null>(Number, null, true);
/** A list of such ids. */
export const ids = () => plain<readonly number[]>([Number], [], true);
/** An id that another system has assigned. It may identify a person, so it is erased from events with the ticket. */
export const textId = () => plain<string | null>(String, null, true);
export const integer = (initial: number) => plain<number>(Number, initial, true);

export const flag = () => plain<boolean>(Boolean, false, true);

/** A value of any shape that is the same in memory and document, and never in events. */
export const mixed = <Value>(initial: Value) => plain<Value>(Object, initial, false);

/** A time: Unix seconds in memory, a date in the document. */
export function time(): Field<number | null> {
  return {
    type: Date,
    initial: null,
    store: (value) => (value === null ? null : new Date(value * 1000)),
    load: (stored: Date | null | undefined) => (stored ? stored.getTime() / 1000 : null),
    toMessage: (value) => (value === null ? undefined : toTimestamp(value)),
    fromMessage: (value: Timestamp) => Number(value.seconds),
    toEvent: (value) => (value === null ? null : formatRfc3339(value)),
  };
}

/** An enum that is stored in the spelling of the API. */
export function enumText<Value extends number | null>(schema: GenEnum<number>, initial: Value): Field<Value> {
  const spellings = readSpellings(schema);
  const numbers = new Map([...spellings].map(([number, spelling]) => [spelling, number]));
  const spell = (value: Value) => (value === null ? null : (spellings.get(value) ?? null));
  return {
    ...plain<Value>(String, initial, true),
    store: spell,
    load: (stored) => (numbers.get(stored) ?? initial) as Value,
    toEvent: spell,
  };
}

/** An enum that is stored as its number, because it is sorted by rank. */
function enumRank<Value extends number>(schema: GenEnum<number>, initial: Value): Field<Value> {
  const spellings = readSpellings(schema);
  return { ...plain<Value>(Number, initial, true), toEvent: (value) => spellings.get(value) ?? null };
}

/** An object of any shape. It is stored as JSON text, because it may have any keys and no query reads it. */
export function json(): Field<string | null> {
  return {
    ...plain<string | null>(String, null, false),
    toMessage: (value) => (value === null ? undefined : (JSON.parse(value) as JsonObject)),
    fromMessage: (value: JsonObject) => JSON.stringify(value),
  };
}

/**
 * Every stored field of a ticket, under its name in the contract if that has it. A field of the contract that is not here is computed
 * (`../computed-fields.ts`).
 */
export const ticketFields = {
  version: integer(1),
  direction: enumText<Direction>(DirectionSchema, Direction.IN),
  from: text(),
  fromName: text(),
  to: texts(),
  cc: texts(),
  bcc: texts(),
  subchannelId: id(),
  externalTicketId: textId(),
  sentiment: text(),
  language: text(),
  languageCode: text(),
  aiSupportLevel: enumText<AiSupportLevel>(AiSupportLevelSchema, AiSupportLevel.UNPROCESSED),
  spamStatus: enumText<SpamStatus | null>(SpamStatusSchema, null),
  priority: enumRank<Priority>(PrioritySchema, Priority.LOW),
  channel: enumText<Channel>(ChannelSchema, 0),
  status: enumText<TicketStatus>(TicketStatusSchema, TicketStatus.OPEN),
  summary: text(),
  subject: text(),
  body: text(),
  /** The sanitised body; null if the body is shown as a text. */
  bodyHtml: text(),
  bodyPlain: text(),
  bodyClean: text(),
  /** The number of the rules by which the texts above were made; 0 without a body. */
  bodyRules: integer(0),
  /** Whether the body is no HTML, whatever it contains: that of a mail which is only a text. */
  isBodyText: flag(),
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
  /** The tags and the e-mail address of the customer as last read. */
  customerTagIds: ids(),
  customerEmail: text(),
  agentId: id(),
  tagIds: ids(),
  aiAgentIds: ids(),
  /** The intents that AI agents propose. */
  intents: mixed<readonly IntentState[]>([]),
  rawData: json(),
  workitem: json(),
  clientData: json(),
  autoExecuteAt: time(),
  /** The version of the last change by a person, or of the last message of the customer; 0 without any. */
  interventionVersion: integer(0),
  channelId: textId(),
  /** The telephone number of the caller, as it was given. */
  callerNumber: text(),
  closedAt: time(),
  lastResponseAuthorId: id(),
  /** The id of the first message: the body at the creation. Null if the ticket was created without a body. */
  openingMessageId: id(),
  /** Why the first message, which was to be sent, is not. */
  openingNotSent: enumText<NotSentReason | null>(NotSentReasonSchema, null),
  /** How many messages came from the customer, went to the customer, and were internal. */
  incomingMessages: integer(0),
  outgoingMessages: integer(0),
  internalMessages: integer(0),
  /** The files of the ticket itself, also inline ones. Its messages list their files themselves. */
  attachments: mixed<readonly AttachmentState[]>([]),
  /** The sender and recipients of the latest message that is not internal; null if there is only the first one. */
  latestMessage: mixed<AddressedMessage | null>(null),
  /** The addresses of the `Reply-To` of the first message. */
  replyTo: texts(),
  /** The address of the person who wrote the first message, if it is not the sender. */
  author: text(),
  /** The last mail that a person or this system has sent, which the next one answers; null if none has an id. */
  lastMail: mixed<MailThread | null>(null),
  createdBy: id(),
  /** When the AI logic is to run for the ticket. */
  process: enumText<AiProcess>(AiProcessSchema, AiProcess.BATCH),
};

type Fields = typeof ticketFields;

export type TicketFieldName = keyof Fields;

/** A ticket in memory. Units: times in Unix seconds. */
export type TicketState = { id: number } & {
  [Name in TicketFieldName]: Fields[Name] extends Field<infer Value> ? Value : never;
};

/** The fields of a ticket that a request sets. Fields that it does not mention are missing. */
export type TicketInput = { [Name in TicketFieldName]?: TicketState[Name] };

export const ticketFieldNames = Object.keys(ticketFields) as TicketFieldName[];

/** A field without its type of value, for code that handles all fields alike. */
export function ticketField(name: TicketFieldName): Field<unknown> {
  return ticketFields[name] as unknown as Field<unknown>;
}

export const initialTicket: Readonly<Omit<TicketState, 'id'>> = Object.freeze(
  Object.fromEntries(ticketFieldNames.map((name) => [name, ticketField(name).initial])) as Omit<TicketState, 'id'>,
);
