import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import { renderTraceparent } from '@ticketing/runtime/trace.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { EventActor, EventHeader } from './rules/event-header.ts';

interface WithRuntime {
  runtime: Runtime;
}

/** Makes the header of a new event. */
export function eventHeader(
  { runtime }: WithRuntime,
  { profileId, kind }: EventActor,
  traceparent?: string,
): EventHeader {
  return { eventId: timeOrderedId('evt', runtime), actor: { profileId, kind }, traceparent };
}

/** Makes the header of a new event that a call causes. */
export function eventHeaderFor(deps: WithRuntime, { caller, trace }: Pick<Call, 'caller' | 'trace'>): EventHeader {
  return eventHeader(deps, caller, renderTraceparent(trace));
}
