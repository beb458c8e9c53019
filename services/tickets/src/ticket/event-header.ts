import { traceparentOf } from '@ticketing/runtime/trace.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import type { EventActor, EventHeader } from './rules/event.ts';

type NewIds = Pick<Context, 'newEventId'>;

/** Makes the header of a new event. */
export function eventHeader(context: NewIds, { profileId, kind }: EventActor, traceparent?: string): EventHeader {
  return { eventId: context.newEventId(), actor: { profileId, kind }, traceparent };
}

/** Makes the header of a new event that a call causes. */
export function eventHeaderOf(context: NewIds, { caller, trace }: Pick<Call, 'caller' | 'trace'>): EventHeader {
  return eventHeader(context, caller, traceparentOf(trace));
}
