import { type OutboxFields, outboxIndex } from '@ticketing/events/outbox/outbox.ts';
import { type Connection, type IndexDefinition, type IndexOptions, type Model, Schema } from 'mongoose';
import { type RoutingOrder, routingOrders } from '../domain/queue-order.ts';
import type { TicketEvent } from '../domain/ticket-event.ts';
import { ticketFieldNames, ticketFields } from '../domain/ticket-fields.ts';

/** Where the tickets are stored. */
export const ticketCollection = 'tickets';

/** A ticket as it is stored: the fields of `ticketFields` in their stored form, and what follows from them. */
export interface TicketDocument extends OutboxFields<TicketEvent>, Record<string, unknown> {
  _id: number;
  /** The smallest tag, by which lists are ordered. */
  minTagId: number | null;
  /** The smallest AI agent, by which lists are ordered. */
  minAiAgentId: number | null;
  /** What the full text search finds. */
  words: string[];
  /** The group of the queue that the ticket is in, and its place in each order of the queue. */
  queueGroup: number;
  queueKeys: Record<RoutingOrder, string>;
  /** When a profile was last said to work on the ticket, by its id. */
  workedOn: Record<string, Date>;
  /** How many entries the worklog has had, and the last of them. */
  manualWorkEntries: number;
  worklog: WorklogEntry[];
  /** The requests that were applied and may come again. */
  appliedRequests: AppliedRequest[];
  /** The bulk that alone may change the ticket until it is applied. */
  reservedBy: string | null;
  /** When the ticket was deleted: what is left of it is its id, its version and its events. */
  deletedAt?: Date;
  /** The services that may still keep something of a deleted ticket; absent if none does. */
  notErasedBy?: string[];
}

/** A change that a person made. */
export interface WorklogEntry {
  profileId: number;
  at: Date;
  fields: readonly string[];
}

/** A request that was applied to a ticket, in the same update. */
export interface AppliedRequest {
  id: string;
  at: Date;
}

/** An index and what it is for. */
export interface IndexReason {
  index: IndexDefinition;
  options?: IndexOptions;
  reason: string;
}

/** Every index of the tickets, and the order or filter that needs it. `_id` orders and filters by id. */
export const ticketIndexes: readonly IndexReason[] = [
  { index: { createdAt: 1, _id: 1 }, reason: 'order and range of t.createdAt' },
  { index: { modifiedAt: 1, _id: 1 }, reason: 'order and range of t.modifiedAt' },
  { index: { dueBy: 1, _id: 1 }, reason: 'order and range of t.dueBy, and what is overdue' },
  { index: { firstResponseDueBy: 1, _id: 1 }, reason: 'order and range of t.firstResponseDueBy' },
  { index: { lastMessageAt: 1, _id: 1 }, reason: 'order and range of t.lastMessageAt' },
  { index: { lastCustomerMessageAt: 1, _id: 1 }, reason: 'order and range of t.lastCustomerMessageAt' },
  { index: { status: 1, _id: 1 }, reason: 'order and filter of t.status, newest id first within a status' },
  { index: { status: 1, createdAt: 1, _id: 1 }, reason: 'a status, newest first: the list that agents open' },
  { index: { priority: 1, _id: 1 }, reason: 'order and filter of t.priority' },
  { index: { agentId: 1, _id: 1 }, reason: 'the tickets of an agent' },
  { index: { customerId: 1, _id: 1 }, reason: 'the tickets of a customer' },
  { index: { contractId: 1, _id: 1 }, reason: 'the tickets of a contract' },
  { index: { subchannelId: 1, _id: 1 }, reason: 'the tickets of a mailbox' },
  { index: { externalTicketId: 1, _id: 1 }, reason: 'filter of t.externalTicketId, as an import asks for hundreds' },
  { index: { tagIds: 1, _id: 1 }, reason: 'the tickets with a tag' },
  { index: { minTagId: 1, _id: 1 }, reason: 'order of tt.tagId' },
  { index: { words: 1, _id: 1 }, reason: 'full text' },
  ...routingOrders.map((order) => ({
    index: { queueGroup: 1, [`queueKeys.${order}`]: 1 } as const,
    reason: `the queue in order ${order}, and neighbours in it`,
  })),
  { index: { status: 1, dueBy: 1 }, reason: 'pending tickets whose dueBy passes' },
  outboxIndex,
  {
    index: { deletedAt: 1 },
    options: { partialFilterExpression: { deletedAt: { $exists: true } } },
    reason: 'what is left of deleted tickets',
  },
  {
    index: { notErasedBy: 1, deletedAt: 1 },
    options: { partialFilterExpression: { notErasedBy: { $exists: true } } },
    reason: 'deleted tickets of which a service may keep something',
  },
];

/** The model of the tickets on a connection. */
export function ticketModel(connection: Connection): Model<TicketDocument> {
  const fields = Object.fromEntries(ticketFieldNames.map((name) => [name, { type: ticketFields[name].type }]));
  const schema = new Schema(
    {
      ...fields,
      _id: Number,
      minTagId: Number,
      minAiAgentId: Number,
      words: [String],
      queueGroup: Number,
      queueKeys: Schema.Types.Mixed,
      workedOn: Schema.Types.Mixed,
      manualWorkEntries: Number,
      worklog: [Schema.Types.Mixed],
      appliedRequests: [Schema.Types.Mixed],
      reservedBy: String,
      deletedAt: Date,
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
