import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import { traceparentOf } from '@ticketing/runtime/trace.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { EventActor, EventHeader } from '../domain/ticket-event.ts';

/** Makes the header of a new event. */
export function eventHeader({ profileId, kind }: EventActor, traceparent?: string): EventHeader {
  return { eventId: timeOrderedId('evt'), actor: { profileId, kind }, traceparent };
}

/** Makes the header of a new event that a call causes. */
export function eventHeaderOf({ caller, trace }: Pick<Call, 'caller' | 'trace'>): EventHeader {
  return eventHeader(caller, traceparentOf(trace));
}
