import {
  ContentType,
  ContentTypeSchema,
  DeliveryStatus,
  DeliveryStatusSchema,
  type NotSentReason,
  NotSentReasonSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Direction, DirectionSchema } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import {
  enumText,
  type Field,
  flag,
  id,
  ids,
  integer,
  mixed,
  text,
  textId,
  texts,
  time,
} from '../../ticket/rules/fields.ts';
import type { DeliveryError } from './delivery-report.ts';

/** Every stored field of a message, under its name in the contract if that has it. */
export const conversationFields = {
  type: enumText<ContentType>(ContentTypeSchema, ContentType.TEXT),
  direction: enumText<Direction>(DirectionSchema, Direction.OUT),
  private: flag(),
  from: text(),
  fromName: text(),
  to: texts(),
  cc: texts(),
  bcc: texts(),
  subject: text(),
  body: text(),
  /** The texts that are made of the body, as of a ticket. */
  bodyHtml: text(),
  bodyPlain: text(),
  bodyClean: text(),
  bodyRules: integer(0),
  /** The person who wrote it. */
  agentId: id(),
  /** The author, a person or a program, as `callerKey` names it; null for a message of the customer. */
  authorKey: textId(),
  /** Whether only programs had a part in it, so that its mail says so. */
  isAutomatic: flag(),
  /** The profile that published the draft. */
  publishedBy: id(),
  /** The profile that changed it last. */
  modifiedBy: id(),
  intentIds: ids(),
  attachments: mixed<readonly AttachmentState[]>([]),
  subchannelId: id(),
  externalConversationId: textId(),
  deliveryStatus: enumText<DeliveryStatus>(DeliveryStatusSchema, DeliveryStatus.NONE),
  /** The lists of its recipients in which a request has named an address: then an answer in a chat is sent too. */
  namedRecipients: texts(),
  /** Why a message that was to be sent is not. */
  notSentReason: enumText<NotSentReason | null>(NotSentReasonSchema, null),
  /** The last failure of its delivery. */
  deliveryError: mixed<DeliveryError | null>(null),
  createdAt: time(),
  modifiedAt: time(),
};

type Fields = typeof conversationFields;

type ConversationFieldName = keyof Fields;

/** The fields that a message is made with. Units: times in Unix seconds. */
export type ConversationInput = {
  [Name in ConversationFieldName]: Fields[Name] extends Field<infer Value> ? Value : never;
};

/**
 * A message of a ticket. Whether it is a draft is not among its fields: the ticket says so, because its publishing is one
 * write of the ticket.
 */
export interface ConversationState extends ConversationInput {
  id: number;
  ticketId: number;
}

export const conversationFieldNames = Object.keys(conversationFields) as ConversationFieldName[];

/** A field without its type of value, for code that handles all fields alike. */
export function conversationField(name: ConversationFieldName): Field<unknown> {
  return conversationFields[name] as unknown as Field<unknown>;
}

export const initialConversation: Readonly<ConversationInput> = Object.freeze(
  Object.fromEntries(
    conversationFieldNames.map((name) => [name, conversationField(name).initial]),
  ) as unknown as ConversationInput,
);

/** The approximate size of a message in bytes: its texts, and the rest. */
export function messageBytes({ body, bodyHtml, bodyPlain, bodyClean }: ConversationInput): number {
  return [body, bodyHtml, bodyPlain, bodyClean].reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), restBytes);
}

/** The approximate size of the other fields of a message. */
const restBytes = 2_000;

/** How many messages a ticket may have, and how many drafts besides. */
export const maxMessages = 10_000;
export const maxDrafts = 1_000;
