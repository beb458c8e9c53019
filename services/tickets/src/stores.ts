import type { Connection } from 'mongoose';
import { type ReservationStore, reservationStore } from './bulk/store.ts';
import { type ErasureStore, erasureStore } from './erasure/store.ts';
import { type HistoryStore, historyStore } from './history/store.ts';
import { type ExternalMessageIdStore, externalMessageIdStore } from './message/external-id-store.ts';
import { type ConversationStore, conversationStore } from './message/store.ts';
import { type QueueNeighbours, queueNeighbours } from './queue/neighbours-query.ts';
import { type QueueStore, queueStore } from './queue/store.ts';
import { type ClosedIdStore, closedIdStore } from './ticket/store/closed-id-store.ts';
import { type TicketCountStore, ticketCountStore } from './ticket/store/count-store.ts';
import { type CustomerCopyStore, customerCopyStore } from './ticket/store/customer-copy-store.ts';
import { type ExternalIdStore, externalIdStore } from './ticket/store/external-id-store.ts';
import { type TicketListStore, ticketListStore } from './ticket/store/list-store.ts';
import { nativeCollection, ticketModel } from './ticket/store/schema.ts';
import { type SplitWords, type TicketStore, ticketStore } from './ticket/store/store.ts';

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
