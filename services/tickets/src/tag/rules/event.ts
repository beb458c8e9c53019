import type { EventHeader } from '../../ticket/rules/event.ts';
import type { TagState } from './tree.ts';

/** An event of a tag. The outbox holds it until the relay sends it. Units: `occurredAt` in Unix seconds. */
export interface TagEvent {
  eventId: string;
  /** The version of the tag after it. */
  version: number;
  occurredAt: number;
  deleted: boolean;
  /** The trace of the request that caused it. */
  traceparent?: string;
}

/** Makes the event of a new or changed tag. */
export function tagChangedEvent({ version, modifiedAt }: TagState, header: EventHeader): TagEvent {
  return event(version, modifiedAt, false, header);
}

/** Makes the event of a deletion. Units: `now` in Unix seconds. */
export function tagDeletedEvent(version: number, now: number, header: EventHeader): TagEvent {
  return event(version, now, true, header);
}

function event(version: number, occurredAt: number, deleted: boolean, { eventId, traceparent }: EventHeader): TagEvent {
  return { eventId, version, occurredAt, deleted, ...(traceparent === undefined ? {} : { traceparent }) };
}
