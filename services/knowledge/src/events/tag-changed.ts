import { deletedTagIds } from '@ticketing/events/consumer/deleted-tags.ts';
import type { HandleEvents } from '@ticketing/events/consumer/event-handler.ts';
import type { Context } from '../application/context.ts';
import { removeDeletedTags } from '../application/deleted-tags.ts';

/** Makes the event handler of this service: tags that were deleted are removed from the sources. */
export function eventHandler(context: Pick<Context, 'sources' | 'deletedTags'>): HandleEvents {
  return (events) => removeDeletedTags(context, deletedTagIds(events));
}
