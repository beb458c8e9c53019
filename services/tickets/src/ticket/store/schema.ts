import { type OutboxFields, outboxIndex } from '@ticketing/events/outbox/outbox.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import type { Query } from '@ticketing/store/document/field-query.ts';
import { type Connection, type IndexDefinition, type IndexOptions, type Model, type mongo, Schema } from 'mongoose';
import type { TicketEvent } from '../rules/event.ts';
import { ticketFieldNames, ticketFields } from '../rules/fields.ts';
import type { MessageDelivery } from '../rules/intent.ts';
import { type RoutingOrder, routingOrders } from '../rules/queue-keys.ts';
import type { WordBytes } from '../rules/search-words.ts';

export const ticketCollection = 'tickets';

/** The document of a ticket: the fields of `ticketFields` in their stored form, and the following ones. */
export interface TicketDocument extends OutboxFields<TicketEvent>, Record<string, unknown> {
  _id: number;
  /** The smallest id of a tag: lists are ordered by it. */
  minTagId: number | null;
  /** The smallest id of an AI agent: lists are ordered by it. */
  minAiAgentId: number | null;
  /** The words by which the full text search finds the ticket: those of its own fields. */
  words: string[];
  /** The words of its other messages, apart from private notes. */
  messageWords: string[];
  /** The words of its private notes, which a right to read them may need. */
  noteWords: string[];
  /** For how many bytes of words its messages and its notes are charged. */
  wordBytes: WordBytes;
  /** The number of the rules by which its words were made; absent, or lower than that of this version, if they are outdated. */
  wordsRules: number;
  /** Increases when the words become outdated without a new version of the ticket. */
  wordsRevision?: number;
  /** The number of the ticket's group of the queue. */
  queueGroup: number;
  /** The ticket's position in each order of the queue. */
  queueKeys: Record<RoutingOrder, string>;
  /** The profiles that work on the ticket: for each id, when this was last set. */
  workedOn: Record<string, Date>;
  /** How many entries the worklog has had. */
  manualWorkEntries: number;
  /** The last entries of the worklog. */
  worklog: WorklogDocument[];
  /** The requests that were applied to the ticket and may be repeated. */
  appliedRequests: AppliedRequest[];
  /** The bulk that has reserved the ticket. */
  reservedBy: string | null;
  /** The messages of the ticket that are not drafts, by id. A message that is in neither list is not part of it. */
  conversationIds: number[];
  /** The drafts of the ticket, by id. */
  draftIds: number[];
  /** The deliveries of the messages of executions, by id. */
  deliveries?: Record<string, MessageDelivery>;
  /**
   * Whether the ticket may have assistant sessions; absent if an earlier version has created it and nobody has read it since.
   */
  hasSessions?: boolean;
  /** When the ticket was deleted. A deleted ticket has only its id, its version and its events. */
  deletedAt?: Date;
  /** Whether there never was a ticket with this id, and never will be. A void document looks deleted. */
  isVoid?: true;
  /** The services that still have to erase their data of the deleted ticket; absent if none has to. */
  notErasedBy?: string[];
}

/** A stored `WorklogEntry`. */
interface WorklogDocument {
  profileId: number;
  at: Date;
  fields: readonly string[];
}

/** A request that was applied to a ticket, recorded in the same write. */
export interface AppliedRequest {
  id: string;
  at: Date;
}

/** An index, and the queries that need it. */
export interface IndexReason {
  index: IndexDefinition;
  options?: IndexOptions;
  reason: string;
}

/** Matches documents that have an id of another system, for an index that leaves out the others. */
export const belongsTo = (name: 'customerId' | 'contractId'): Query => ({ [name]: { $gt: '' } });

/** The indexes of the tickets. The index on `_id`, which MongoDB makes itself, serves orders and filters by id. */
export const ticketIndexes: readonly IndexReason[] = [
  { index: { createdAt: 1, _id: 1 }, reason: 'order and range of t.createdAt' },
  { index: { modifiedAt: 1, _id: 1 }, reason: 'order and range of t.modifiedAt' },
  { index: { dueBy: 1, _id: 1 }, reason: 'order and range of t.dueBy, and overdue tickets' },
  { index: { firstResponseDueBy: 1, _id: 1 }, reason: 'order and range of t.firstResponseDueBy' },
  { index: { lastMessageAt: 1, _id: 1 }, reason: 'order and range of t.lastMessageAt' },
  { index: { lastCustomerMessageAt: 1, _id: 1 }, reason: 'order and range of t.lastCustomerMessageAt' },
  {
    index: { status: 1, _id: 1 },
    reason:
      'order and filter of t.status, newest id first within a status; totals, for which it has deleted tickets too',
  },
  {
    index: { status: 1, createdAt: 1, _id: 1 },
    reason: 'the tickets of a status, newest first: the first list that agents see',
  },
  { index: { priority: 1, _id: 1 }, reason: 'order and filter of t.priority' },
  { index: { agentId: 1, _id: 1 }, reason: 'the tickets of an agent' },
  { index: { customerId: 1, _id: 1 }, reason: 'the tickets of a customer' },
  { index: { contractId: 1, _id: 1 }, reason: 'the tickets of a contract' },
  {
    index: { customerId: 1, createdAt: 1, _id: 1, status: 1 },
    options: { partialFilterExpression: belongsTo('customerId') },
    reason: 'the tickets in the history of a customer, and how many of them are open',
  },
  {
    index: { contractId: 1, createdAt: 1, _id: 1, status: 1 },
    options: { partialFilterExpression: belongsTo('contractId') },
    reason: 'the tickets in the history of a contract, and how many of them are open',
  },
  { index: { subchannelId: 1, _id: 1 }, reason: 'the tickets of a mailbox' },
  {
    index: { externalTicketId: 1, _id: 1 },
    reason: 'filter of t.externalTicketId, which an import uses with hundreds of values',
  },
  { index: { tagIds: 1, _id: 1 }, reason: 'the tickets with a tag' },
  { index: { minTagId: 1, _id: 1 }, reason: 'order of tt.tagId' },
  { index: { words: 1, _id: 1 }, reason: 'full text' },
  { index: { messageWords: 1, _id: 1 }, reason: 'full text of messages' },
  { index: { noteWords: 1, _id: 1 }, reason: 'full text of private notes' },
  { index: { wordsRules: 1 }, reason: 'tickets whose words are outdated' },
  ...routingOrders.map((order) => ({
    index: { queueGroup: 1, [`queueKeys.${order}`]: 1 } as const,
    reason: `the queue in order ${order}, and neighbours in it`,
  })),
  { index: { status: 1, dueBy: 1 }, reason: 'pending tickets whose dueBy has passed' },
  outboxIndex,
  {
    index: { notErasedBy: 1, deletedAt: 1 },
    options: { partialFilterExpression: { notErasedBy: { $exists: true } } },
    reason: 'deleted tickets of which a service still has to erase its data',
  },
];

/** The driver's collection of tickets, without mongoose. */
export type TicketCollection = mongo.Collection<TicketDocument>;

export const isNotDeleted: Query = { deletedAt: null };

export const isDeleted: Query = { deletedAt: { $ne: null } };

export function openTickets(connection: Connection): TicketCollection {
  return openCollection(connection, ticketCollection);
}

export function ticketModel(connection: Connection): Model<TicketDocument> {
  const fields = Object.fromEntries(ticketFieldNames.map((name) => [name, { type: ticketFields[name].type }]));
  const schema = new Schema(
    {
      ...fields,
      _id: Number,
      minTagId: Number,
      minAiAgentId: Number,
      words: [String],
      messageWords: [String],
      noteWords: [String],
      wordBytes: Schema.Types.Mixed,
      wordsRules: Number,
      wordsRevision: Number,
      queueGroup: Number,
      queueKeys: Schema.Types.Mixed,
      workedOn: Schema.Types.Mixed,
      manualWorkEntries: Number,
      worklog: [Schema.Types.Mixed],
      appliedRequests: [Schema.Types.Mixed],
      reservedBy: String,
      conversationIds: [Number],
      draftIds: [Number],
      deliveries: Schema.Types.Mixed,
      deletedAt: Date,
      isVoid: Boolean,
      notErasedBy: { type: [String], default: undefined },
      outbox: [Schema.Types.Mixed],
      outboxSince: Date,
      unsent: Schema.Types.Mixed,
    },
    { versionKey: false, strict: 'throw', minimize: false, collection: ticketCollection },
  );
  for (const { index, options } of ticketIndexes) schema.index(index, options);
  return connection.model<TicketDocument>('Ticket', schema as unknown as Schema<TicketDocument>);
}
