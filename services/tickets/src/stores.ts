import type { Connection } from 'mongoose';
import { reservationStore } from './bulk/store.ts';
import { erasureStore } from './erasure/store.ts';
import { historyStore } from './history/store.ts';
import { externalMessageIdStore } from './message/external-id-store.ts';
import { conversationStore } from './message/store.ts';
import { queueNeighbours } from './queue/neighbours-query.ts';
import { queueStore } from './queue/store.ts';
import { closedIdStore } from './ticket/store/closed-id-store.ts';
import { ticketCountStore } from './ticket/store/count-store.ts';
import { customerCopyStore } from './ticket/store/customer-copy-store.ts';
import { externalIdStore } from './ticket/store/external-id-store.ts';
import { ticketListStore } from './ticket/store/list-store.ts';
import { openTickets } from './ticket/store/schema.ts';
import { type SplitWords, ticketStore } from './ticket/store/store.ts';

/**
 * Opens the stores on a connection. `onEvent` is called after each write that has stored an event; `splitWords` makes the
 * words by which the full text search finds a ticket.
 */
export function openTicketStores(connection: Connection, onEvent: () => void, splitWords: SplitWords) {
  const collection = openTickets(connection);
  const queue = queueStore(collection);
  const neighbours = queueNeighbours(queue.keysAround, () => performance.now());
  const closedIds = closedIdStore(connection, collection);
  return {
    tickets: ticketStore(collection, { onEvent, splitWords, changing: neighbours.changing }),
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
