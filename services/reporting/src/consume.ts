import { fromBinary } from '@bufbuild/protobuf';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import {
  type TicketChanged,
  TicketChangedSchema,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { HandleEvents } from '@ticketing/events/consumer/event-handler.ts';
import { type ProjectionParts, project } from './row/projection.ts';

/**
 * Makes the event handler of this service: it updates the rows of changed tickets, and records changed tags for the tag
 * refresher, which it then wakes.
 */
export function eventHandler(parts: ProjectionParts, wakeTagRefresher: () => void): HandleEvents {
  return async (events, handlerContext) => {
    const byTopic = Map.groupBy(events, ({ topic }) => topic);
    const changes = (byTopic.get(ticketChangedTopic.name) ?? []).map(({ value }) =>
      fromBinary(TicketChangedSchema, value),
    );
    const created = changes.filter(({ type }) => type === TicketChangeType.TICKET_CREATED);
    await project(parts, idsIn(changes), handlerContext, new Set(idsIn(created)));
    const tags = (byTopic.get(tagChangedTopic.name) ?? []).map(({ value }) => fromBinary(TagChangedSchema, value));
    // A tag of version 1 is new: no row can show an older name of it.
    const changed = tags.filter(({ version }) => version > 1);
    if (changed.length === 0) return;
    await parts.tagRefreshes.add(changed.map(({ tagId }) => tagId));
    wakeTagRefresher();
  };
}

const idsIn = (changes: readonly TicketChanged[]) => [...new Set(changes.map(({ ticketId }) => ticketId))];
