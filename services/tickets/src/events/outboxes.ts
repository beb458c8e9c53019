import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import { type Outbox, openOutbox } from '@ticketing/events/outbox/outbox.ts';
import type { Database } from '@ticketing/store/database.ts';
import { tagCollection } from '../store/tag-model.ts';
import { ticketCollection } from '../store/ticket-model.ts';
import { tagChangedMessage } from './tag-changed.ts';
import { ticketChangedMessage } from './ticket-changed.ts';

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
