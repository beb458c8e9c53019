import { deletedTagIds } from '@ticketing/events/consumer/deleted-tags.ts';
import type { HandleEvents } from '@ticketing/events/consumer/event-handler.ts';
import type { Context } from './context.ts';
import { dropTags } from './template/drop-deleted.ts';

/** Makes the event handler of this service: it drops deleted tags from templates. The kit handles deletions of tickets. */
export function eventHandler(context: Context): HandleEvents {
  return (events) => dropTags(context, deletedTagIds(events));
}
