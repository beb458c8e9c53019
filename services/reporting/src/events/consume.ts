import { fromBinary } from '@bufbuild/protobuf';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import { TicketChangedSchema, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { ReceivedEvent } from '@ticketing/events/bus/envelope.ts';
import type { HandleEvents, HandlerContext } from '@ticketing/events/consumer/event-handler.ts';
import { erase, type ProjectionContext, project } from '../application/projection.ts';

/**
 * Makes the event handler of this service: it updates the rows of changed tickets and erases those of deleted ones, and
 * records changed tags for the tag refresher, which it then wakes.
 */
export function eventHandler(context: ProjectionContext, wakeTagRefresher: () => void): HandleEvents {
  return async (events, handlerContext) => {
    const byTopic = Map.groupBy(events, ({ topic }) => topic);
    await handleTickets(context, byTopic.get(ticketChangedTopic.name) ?? [], handlerContext);
    const tags = (byTopic.get(tagChangedTopic.name) ?? []).map(({ value }) => fromBinary(TagChangedSchema, value));
    // A tag of version 1 is new: no row can show an older name of it.
    const changed = tags.filter(({ version }) => version > 1);
    if (changed.length === 0) return;
    await context.tagRefreshes.add(changed.map(({ tagId }) => tagId));
    wakeTagRefresher();
  };
}

async function handleTickets(
  context: ProjectionContext,
  events: readonly ReceivedEvent[],
  handlerContext: HandlerContext,
): Promise<void> {
  const changes = events.map(({ value }) => fromBinary(TicketChangedSchema, value));
  const deletions = changes.filter(({ type }) => type === TicketChangeType.TICKET_DELETED);
  const deleted = new Set(deletions.map(({ ticketId }) => ticketId));
  const changed = new Set(changes.map(({ ticketId }) => ticketId).filter((id) => !deleted.has(id)));
  await project(context, [...changed], handlerContext);
  for (const { ticketId, version } of deletions) await erase(context, ticketId, version, handlerContext);
}
