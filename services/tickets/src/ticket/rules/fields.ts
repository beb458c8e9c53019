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
import {
  enumRank,
  enumText,
  type Field,
  flag,
  id,
  ids,
  integer,
  json,
  mixed,
  text,
  textId,
  texts,
  time,
} from './field.ts';
import type { IntentState } from './intent.ts';
import type { AddressedMessage } from './reply-recipients.ts';

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
  closedAt: time(),
  lastResponseAuthorId: id(),
  /** The id of the first message: the body at the creation. Null if the ticket was created without a body. */
  openingMessageId: id(),
  /** How many messages came from the customer, went to the customer, and were internal. */
  incomingMessages: integer(0),
  outgoingMessages: integer(0),
  internalMessages: integer(0),
  /** The files of the ticket itself, also inline ones. Its messages list their files themselves. */
  attachments: mixed<readonly AttachmentState[]>([]),
  /** The sender and recipients of the latest message that is not internal; null if there is only the first one. */
  latestMessage: mixed<AddressedMessage | null>(null),
  createdBy: id(),
  /** When the AI logic is to run for the ticket. */
  process: enumText<AiProcess>(AiProcessSchema, AiProcess.BATCH),
};

type Fields = typeof ticketFields;

/** The name of a stored field. */
export type TicketFieldName = keyof Fields;

/** A ticket in memory. Units: times in Unix seconds. */
export type TicketState = { id: number } & {
  [Name in TicketFieldName]: Fields[Name] extends Field<infer Value> ? Value : never;
};

/** The fields of a ticket that a request sets. Fields that it does not mention are missing. */
export type TicketInput = { [Name in TicketFieldName]?: TicketState[Name] };

/** The names of all stored fields. */
export const ticketFieldNames = Object.keys(ticketFields) as TicketFieldName[];

/** A field without its type of value, for code that handles all fields alike. */
export function ticketField(name: TicketFieldName): Field<unknown> {
  return ticketFields[name] as unknown as Field<unknown>;
}

/** The default values of all fields. */
export const initialTicket: Readonly<Omit<TicketState, 'id'>> = Object.freeze(
  Object.fromEntries(ticketFieldNames.map((name) => [name, ticketField(name).initial])) as Omit<TicketState, 'id'>,
);
