import { traceparentOf } from '@ticketing/runtime/trace.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import type { EventHeader } from './store.ts';

/** Makes the header of the event of a change that a call makes. */
export function eventHeaderOf(
  context: Pick<Context, 'newEventId' | 'now'>,
  { trace }: Pick<Call, 'trace'>,
): EventHeader {
  return { eventId: context.newEventId(), occurredAt: context.now(), traceparent: traceparentOf(trace) };
}
