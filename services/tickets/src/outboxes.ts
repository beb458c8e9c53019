import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import { type Outbox, openOutbox } from '@ticketing/events/outbox/outbox.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { tagCollection } from './tag/store.ts';
import { tagChangedMessage } from './tag/to-proto.ts';
import { ticketChangedMessage } from './ticket/event-to-proto.ts';
import { ticketCollection } from './ticket/store/schema.ts';

/** Opens the outboxes of tickets and tags, from which the relay sends the events of this service. */
export function openOutboxes({ connection }: Pick<Database, 'connection'>): Outbox[] {
  return [
    openOutbox(connection.collection(ticketCollection), {
      name: 'tickets',
      topic: ticketChangedTopic.name,
      toMessage: ticketChangedMessage,
    }),
    openOutbox(connection.collection(tagCollection), {
      name: 'tags',
      topic: tagChangedTopic.name,
      toMessage: tagChangedMessage,
    }),
  ];
}
