import type { HandleEvents } from '@ticketing/events/consumer/event-handler.ts';
import type { Context } from './context.ts';
import { parseEvent, toErasedEvent } from './feed/rules/event.ts';
import { addDeliveries } from './webhook/delivery/add.ts';
import { storeOfTickets } from './webhook/delivery/store-of-tickets.ts';

/** Makes the event handler of this service: it appends changes of tickets to the feed, and to webhooks. */
export function eventHandler(context: Context): HandleEvents {
  return async (events) => {
    const changes = events.map(({ value }) => parseEvent(value));
    const ticketIds = changes.map(({ ticketId }) => ticketId);
    const traces = context.tracer && new Map(events.map(({ id, traceparent }) => [id, traceparent]));
    await storeOfTickets(context, ticketIds, async (erased) => {
      const kept = changes.map((change) => (erased.has(change.ticketId) ? toErasedEvent(change) : change));
      await addDeliveries(context, await context.events.append(kept), erased, traces);
    });
  };
}
