import { fromBinary } from '@bufbuild/protobuf';
import { TicketChangedSchema, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { ReceivedEvent } from '@ticketing/events/bus/envelope.ts';
import type { HandleEvents, HandlerContext } from '@ticketing/events/consumer/event-handler.ts';

/** Erases all data of a deleted ticket that the service stores; `version` names the deletion. May be repeated. */
export type EraseTicket = (ticketId: number, version: number, context: HandlerContext) => Promise<void>;

/** How the deletions among the events are handled. */
export interface ErasureOptions {
  /** Handles all other events; without it they are ignored. */
  handle: HandleEvents | undefined;
  /** Whether deletions, and events of a ticket that was deleted with them, are handled too. */
  handlesDeletions?: boolean;
  eraseTicket: EraseTicket;
  /** Called after the erasure. */
  confirm(ticketId: number, context: HandlerContext): Promise<void>;
}

/**
 * Makes a handler that erases the data of deleted tickets and confirms it. Other events of a ticket that was deleted with
 * them are left out, unless `handlesDeletions` says otherwise.
 *
 * Source: docs/reference/api.md, Deletion.
 */
export function eraseDeletedTickets({
  handle,
  handlesDeletions = false,
  eraseTicket,
  confirm,
}: ErasureOptions): HandleEvents {
  return async (events, context) => {
    const deletions = new Map<number, number>();
    const changes = new Map<ReceivedEvent, number>();
    for (const event of events) {
      if (event.topic !== ticketChangedTopic.name) continue;
      const { ticketId, type, version } = fromBinary(TicketChangedSchema, event.value);
      changes.set(event, ticketId);
      if (type === TicketChangeType.TICKET_DELETED) deletions.set(ticketId, version);
    }
    const isHandled = (event: ReceivedEvent) => handlesDeletions || !deletions.has(changes.get(event) ?? Number.NaN);
    const others = events.filter(isHandled);
    if (handle && others.length > 0) await handle(others, context);
    for (const [ticketId, version] of deletions) {
      await eraseTicket(ticketId, version, context);
      await confirm(ticketId, context);
    }
  };
}
