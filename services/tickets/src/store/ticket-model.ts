import { type Connection, type IndexDefinition, type Model, Schema } from 'mongoose';
import type { TicketEvent } from '../domain/ticket-event.ts';
import { ticketFieldNames, ticketFields } from './ticket-fields.ts';

/** A ticket as it is stored: the fields of `ticketFields` in their stored form, and what follows from them. */
export interface TicketDocument extends Record<string, unknown> {
  _id: number;
  version: number;
  /** The smallest tag, by which lists are ordered. */
  minTagId: number | null;
  /** The smallest AI agent, by which lists are ordered. */
  minAiAgentId: number | null;
  /** What the full text search finds. */
  words: string[];
  /** Who works on the ticket, and since when that was last said. */
  workedOn: { profileId: number; at: Date }[];
  /** Events that the relay has not sent yet. */
  outbox: TicketEvent[];
}

/** An index and what it is for. */
export interface IndexReason {
  index: IndexDefinition;
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
      workedOn: [{ _id: false, profileId: Number, at: Date }],
      outbox: [Schema.Types.Mixed],
    },
    { versionKey: false, strict: 'throw', minimize: false, collection: 'tickets' },
  );
  for (const { index } of ticketIndexes) schema.index(index);
  return connection.model<TicketDocument>('Ticket', schema as unknown as Schema<TicketDocument>);
}
