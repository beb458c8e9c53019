import { timeOrderedId } from '@ticketing/service-kit/time-ordered-id.ts';
import type { TagEvent } from '../domain/tag-event.ts';
import type { TagState } from '../domain/tag-tree.ts';

/** The event of a tag that was created or changed. */
export function tagChangedEvent({ version, modifiedAt }: TagState): TagEvent {
  return { eventId: timeOrderedId('evt'), version, occurredAt: modifiedAt, deleted: false };
}

/** The event of a deletion. Units: `now` in Unix seconds. */
export function tagDeletedEvent(version: number, now: number): TagEvent {
  return { eventId: timeOrderedId('evt'), version, occurredAt: now, deleted: true };
}
