import { deletedTagIds } from '@ticketing/events/consumer/deleted-tags.ts';
import type { HandleEvents } from '@ticketing/events/consumer/event-handler.ts';
import type { Context } from './context.ts';
import { removeDeletedTags } from './source/deleted-tags.ts';

/** Makes the event handler of this service: tags that were deleted are removed from the sources. */
export function eventHandler(context: Pick<Context, 'sources' | 'deletedTags'>): HandleEvents {
  return (events) => removeDeletedTags(context, deletedTagIds(events));
}
