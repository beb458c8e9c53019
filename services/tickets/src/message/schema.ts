import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import type { Lease } from '@ticketing/store/leases/lease.ts';
import { type Connection, type Model, type mongo, Schema } from 'mongoose';
import type { IndexReason } from '../ticket/store/schema.ts';
import type { DeliveryFailure } from './rules/delivery-report.ts';
import { conversationFieldNames, conversationFields } from './rules/fields.ts';

/** The document of a message: the fields of `conversationFields` in their stored form, and the following ones. */
export interface ConversationDocument extends Record<string, unknown> {
  _id: number;
  ticketId: number;
  /** The approximate size in bytes. */
  bytes: number;
  /** Increases with each change. */
  revision: number;
  /** Until then only the process that publishes the draft may change it. */
  publishingUntil: Date | null;
  /** The time since which the message may be in no ticket. Absent once it was found in its ticket. */
  unseenSince?: Date;
  /** The state of its sending; null if it is not sent as a mail. */
  mail: MailDocument | null;
  /** The process that sends it. */
  lease?: Lease | null;
  /** Whether its ticket shows its delivery. */
  reportsDelivery?: boolean;
  /** Increases with each change of its delivery. */
  deliveryRevision?: number;
  /** Whether the ticket shows it as it is now. */
  isReported?: boolean;
  /** The recipients that mail servers have accepted and then reported as failed, as `mail.reached` spells them. */
  bounced?: string[];
  /** The final failures that its ticket has not been notified of. */
  failures?: DeliveryFailure[];
  /** Whether there may be such failures. */
  hasFailures?: boolean;
  /** Whether a failure of it has opened its ticket. */
  hasOpenedTicket?: boolean;
}

/** The sending of a message as a mail. */
export interface MailDocument {
  /** How often it was tried. */
  attempts: number;
  /** When it is tried next, by the clock of the database server; null if it was sent or has failed. */
  nextAttemptAt: Date | null;
  /** The `Message-ID`s of the earlier mails of the ticket, oldest first. */
  references: string[];
  /** The recipients for which a mail server has accepted it. */
  reached: string[];
  /** Why it was not sent at the last attempt. */
  lastError: string | null;
}

const conversationsName = 'conversations';

/** The driver's collection of messages, without mongoose. */
type ConversationCollection = mongo.Collection<ConversationDocument>;

const conversationIndexes: readonly IndexReason[] = [
  {
    index: { ticketId: 1, createdAt: 1, _id: 1, bytes: 1 },
    reason: 'the messages of a ticket, oldest first, and their sizes',
  },
  { index: { ticketId: 1, 'attachments.id': 1 }, reason: 'the message that lists a file' },
  {
    index: { unseenSince: 1 },
    options: { partialFilterExpression: { unseenSince: { $exists: true } } },
    reason: 'messages that may belong to no ticket',
  },
  {
    index: { deliveryStatus: 1, 'mail.nextAttemptAt': 1 },
    options: { partialFilterExpression: { deliveryStatus: 'queued' } },
    reason: 'mails to send',
  },
  {
    index: { isReported: 1 },
    options: { partialFilterExpression: { reportsDelivery: true } },
    reason: 'messages whose tickets do not show their delivery yet',
  },
  {
    index: { hasFailures: 1 },
    options: { partialFilterExpression: { hasFailures: true } },
    reason: 'messages whose tickets were not notified of failures yet',
  },
];

export function conversationModel(connection: Connection): Model<ConversationDocument> {
  const fields = Object.fromEntries(
    conversationFieldNames.map((name) => [name, { type: conversationFields[name].type }]),
  );
  const schema = new Schema(
    {
      ...fields,
      // A field that is called "type" would be read as the type of the schema.
      type: { type: String },
      attachments: [Schema.Types.Mixed],
      _id: Number,
      ticketId: Number,
      bytes: Number,
      revision: Number,
      publishingUntil: Date,
      unseenSince: Date,
      mail: Schema.Types.Mixed,
      lease: Schema.Types.Mixed,
      reportsDelivery: Boolean,
      deliveryRevision: Number,
      isReported: Boolean,
      bounced: [String],
      failures: [Schema.Types.Mixed],
      hasFailures: Boolean,
      hasOpenedTicket: Boolean,
    },
    { versionKey: false, strict: 'throw', minimize: false, collection: conversationsName },
  );
  for (const { index, options } of conversationIndexes) schema.index(index, options);
  return connection.model<ConversationDocument>('Conversation', schema as unknown as Schema<ConversationDocument>);
}

export function conversationCollection(connection: Connection): ConversationCollection {
  return openCollection(connection, conversationsName);
}
