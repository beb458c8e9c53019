import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import { traceparentOf } from '@ticketing/runtime/trace.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { TagEvent } from '../domain/tag-event.ts';
import type { TagState } from '../domain/tag-tree.ts';

/** The event of a tag that was created or changed. */
export function tagChangedEvent({ version, modifiedAt }: TagState, { trace }: Pick<Call, 'trace'>): TagEvent {
  const traceparent = traceparentOf(trace);
  return { eventId: timeOrderedId('evt'), version, occurredAt: modifiedAt, deleted: false, traceparent };
}

/** The event of a deletion. Units: `now` in Unix seconds. */
export function tagDeletedEvent(version: number, now: number, { trace }: Pick<Call, 'trace'>): TagEvent {
  return { eventId: timeOrderedId('evt'), version, occurredAt: now, deleted: true, traceparent: traceparentOf(trace) };
}
