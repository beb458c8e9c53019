import { fromBinary } from '@bufbuild/protobuf';
import { TicketChangedSchema } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import type { HandleEvents } from '@ticketing/events/consumer/event-handler.ts';
import type { Context } from '../application/context.ts';

/** Makes the event handler of this service: it appends changes of tickets to the feed. */
export function eventHandler(context: Pick<Context, 'events'>): HandleEvents {
  return async (events) => {
    await context.events.append(events.map(({ value }) => fromBinary(TicketChangedSchema, value)));
  };
}
