import type { HandleEvents } from '@ticketing/events/consumer/event-handler.ts';
import { parseEvent, toErasedEvent } from './feed/rules/event.ts';
import { addDeliveries } from './webhook/delivery/add.ts';
import { storeOfTickets } from './webhook/delivery/erase-ticket.ts';
import type { DeliveryParts } from './webhook/delivery/open.ts';

/**
 * Makes the event handler of this service: it appends changes of tickets to the feed, and to webhooks. With `isTraced`,
 * deliveries continue the traces of their events.
 */
export function eventHandler(parts: DeliveryParts, isTraced: boolean): HandleEvents {
  return async (events) => {
    const changes = events.map(({ value }) => parseEvent(value));
    const ticketIds = changes.map(({ ticketId }) => ticketId);
    const traces = isTraced ? new Map(events.map(({ id, traceparent }) => [id, traceparent])) : undefined;
    await storeOfTickets(parts, ticketIds, async (erased) => {
      const kept = changes.map((change) => (erased.has(change.ticketId) ? toErasedEvent(change) : change));
      await addDeliveries(parts, await parts.events.append(kept), erased, traces);
    });
  };
}
