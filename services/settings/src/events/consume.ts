import { fromBinary } from '@bufbuild/protobuf';
import { TicketChangedSchema } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import type { HandleEvents } from '@ticketing/events/consumer/event-handler.ts';
import { addDeliveries } from '../application/add-deliveries.ts';
import type { Context } from '../application/context.ts';

/** Makes the event handler of this service: it appends changes of tickets to the feed, and to webhooks. */
export function eventHandler(context: Context): HandleEvents {
  return async (events) => {
    const stored = await context.events.append(events.map(({ value }) => fromBinary(TicketChangedSchema, value)));
    const traces = context.tracer && new Map(events.map(({ id, traceparent }) => [id, traceparent]));
    await addDeliveries(context, stored, traces);
  };
}
