import type { Connection } from 'mongoose';
import { type ClosedIdStore, closedIdStore } from './closed-id-store.ts';
import { type ConversationStore, conversationStore } from './conversation-store.ts';
import { type CustomerCopyStore, customerCopyStore } from './customer-copy-store.ts';
import { type ErasureStore, erasureStore } from './erasure-store.ts';
import { type ExternalIdStore, externalIdStore } from './external-id-store.ts';
import { type ExternalMessageIdStore, externalMessageIdStore } from './external-message-id-store.ts';
import { type HistoryStore, historyStore } from './history-store.ts';
import { type QueueNeighbours, queueNeighbours } from './queue-neighbours.ts';
import { type QueueStore, queueStore } from './queue-store.ts';
import { type ReservationStore, reservationStore } from './reservation-store.ts';
import { type TicketCountStore, ticketCountStore } from './ticket-count-store.ts';
import { type TicketListStore, ticketListStore } from './ticket-list-store.ts';
import { nativeCollection, ticketModel } from './ticket-model.ts';
import { type SplitWords, type TicketStore, ticketStore } from './ticket-store.ts';

/** The stores for tickets and their messages. */
export interface TicketStores {
  tickets: TicketStore;
  ticketLists: TicketListStore;
  ticketCounts: TicketCountStore;
  closedIds: ClosedIdStore;
  queue: QueueStore;
  neighbours: QueueNeighbours;
  externalIds: ExternalIdStore;
  conversations: ConversationStore;
  externalMessageIds: ExternalMessageIdStore;
  customerCopies: CustomerCopyStore;
  erasures: ErasureStore;
  reservations: ReservationStore;
  history: HistoryStore;
}

/**
 * Opens the stores on a connection. `onEvent` is called after each write that has stored an event; `splitWords` makes the
 * words by which the full text search finds a ticket.
 */
export function openTicketStores(connection: Connection, onEvent: () => void, splitWords: SplitWords): TicketStores {
  const model = ticketModel(connection);
  const collection = nativeCollection(model);
  const queue = queueStore(collection);
  const neighbours = queueNeighbours(queue.keysAround, () => performance.now());
  const closedIds = closedIdStore(connection, collection);
  return {
    tickets: ticketStore(model, { onEvent, splitWords, changing: neighbours.changing }),
    ticketLists: ticketListStore(collection),
    ticketCounts: ticketCountStore(collection, closedIds),
    closedIds,
    queue,
    neighbours,
    externalIds: externalIdStore(connection),
    conversations: conversationStore(connection),
    externalMessageIds: externalMessageIdStore(connection),
    customerCopies: customerCopyStore(connection, collection),
    erasures: erasureStore(collection),
    reservations: reservationStore(collection),
    history: historyStore(connection, collection),
  };
}
