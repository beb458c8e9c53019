import { DomainError } from '@ticketing/errors/domain-error.ts';
import { translateUpstreamErrors } from '@ticketing/errors/translate-error.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { IncomingMessage } from '../bus/bus.ts';
import { receivedEvent } from '../bus/envelope.ts';
import type { HandlerOptions } from './event-handler.ts';
import { runTraced } from './run-traced.ts';

/** A handler did not finish before its deadline. */
export class HandlerTimeout extends Error {
  override readonly name = 'HandlerTimeout';
}

/**
 * Calls the handler of a group once, with the events of some messages, a deadline, and the trace of the first event.
 *
 * Errors: those of the handler; HandlerTimeout at the deadline; an Error for a message that is not an event.
 */
export async function handleInTime(
  { group, handle, log, tracer, handlerTimeoutMs = 15_000 }: HandlerOptions,
  messages: readonly IncomingMessage[],
  stopping: AbortSignal,
): Promise<void> {
  const events = messages.map(receivedEvent);
  const deadline = new AbortController();
  const signal = AbortSignal.any([stopping, deadline.signal]);
  const trace = continueTrace(events[0]?.traceparent);
  const timer = setTimeout(() => deadline.abort(), handlerTimeoutMs);
  try {
    const context = { trace, log: log.child({ traceId: trace.traceId, group }), signal };
    const call = () => translateUpstreamErrors(() => handle(events, context));
    const handled = tracer ? runTraced(tracer, { group, trace, events }, call) : call();
    await Promise.race([handled, rejectOnAbort(deadline.signal)]);
  } finally {
    clearTimeout(timer);
  }
  for (const { id, type, key, traceparent } of events) {
    log.debug({ group, eventId: id, type, key, traceId: continueTrace(traceparent).traceId }, 'event handled');
  }
}

/** Whether a handler, or a service that it called, took too long. */
export function isLate(error: unknown): boolean {
  return error instanceof HandlerTimeout || (error instanceof DomainError && error.code === 'deadline_exceeded');
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new HandlerTimeout('the handler took too long')), { once: true });
  });
}
