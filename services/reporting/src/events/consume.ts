import { fromBinary } from '@bufbuild/protobuf';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import { TicketChangedSchema, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { ReceivedEvent } from '@ticketing/events/bus/envelope.ts';
import type { HandleEvents, HandlerContext } from '@ticketing/events/consumer/event-handler.ts';
import { erase, type Projection, project } from '../application/projection.ts';

/** Makes what handles the events that the rows follow; `wakeRefreshes` is called when names of tags have changed. */
export function eventHandler(projection: Projection, wakeRefreshes: () => void): HandleEvents {
  return async (events, context) => {
    const byTopic = Map.groupBy(events, ({ topic }) => topic);
    await handleTickets(projection, byTopic.get(ticketChangedTopic.name) ?? [], context);
    const tags = (byTopic.get(tagChangedTopic.name) ?? []).map(({ value }) => fromBinary(TagChangedSchema, value));
    // No row can show another name of a tag that has never had one.
    const renamed = tags.filter(({ version }) => version > 1);
    if (renamed.length === 0) return;
    await projection.tagRefreshes.add(renamed.map(({ tagId }) => tagId));
    wakeRefreshes();
  };
}

async function handleTickets(
  projection: Projection,
  events: readonly ReceivedEvent[],
  context: HandlerContext,
): Promise<void> {
  const changes = events.map(({ value }) => fromBinary(TicketChangedSchema, value));
  const deletions = changes.filter(({ type }) => type === TicketChangeType.TICKET_DELETED);
  const deleted = new Set(deletions.map(({ ticketId }) => ticketId));
  const changed = new Set(changes.map(({ ticketId }) => ticketId).filter((id) => !deleted.has(id)));
  await project(projection, [...changed], context);
  for (const { ticketId, version } of deletions) await erase(projection, ticketId, version, context);
}
