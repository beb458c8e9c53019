import { fromBinary } from '@bufbuild/protobuf';
import { TicketChangedSchema } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import { deletedTagIds } from '@ticketing/events/consumer/deleted-tags.ts';
import type { HandleEvents } from '@ticketing/events/consumer/event-handler.ts';
import { dropTags } from './agent/drop-deleted.ts';
import type { Context } from './context.ts';
import { queueAnalyses } from './detection/request-analyses.ts';
import { noteDecisions } from './learning/record-labels.ts';

/**
 * Makes the event handler of this service: it queues the analysis of new tickets, drops deleted tags from AI agents and
 * examples, and notes decisions for the classifier to learn.
 */
export function eventHandler(context: Context): HandleEvents {
  return async (events) => {
    const changes = events.flatMap(({ topic, value }) =>
      topic === ticketChangedTopic.name ? [fromBinary(TicketChangedSchema, value)] : [],
    );
    await queueAnalyses(context, changes);
    await dropTags(context, deletedTagIds(events));
    await noteDecisions(context, changes);
  };
}
