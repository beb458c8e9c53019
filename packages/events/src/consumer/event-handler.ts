import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Trace } from '@ticketing/runtime/trace.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import type { ReceivedEvent } from '../bus/envelope.ts';
import type { DeadLetters } from '../dead-letters/dead-letters.ts';

/** How the events of a consumer group are handled. */
export interface HandlerOptions {
  group: string;
  handle: HandleEvents;
  deadLetters: DeadLetters;
  log: Logger;
  /** Records a span of each event that was handled. */
  tracer?: Tracer | undefined;
  /** How long one call of `handle` may take. It must be shorter than a session of the bus, 20 s. */
  handlerTimeoutMs?: number;
}

/**
 * Handles events of one topic. They may have several keys; the events of one key are in their order. The same event can
 * be delivered more than once, so handling it twice must have the same effect as handling it once.
 *
 * Errors: after a transient error (`isTransient`) all of them are delivered again. After any other error, including
 * a timeout, each key is handled alone; an event that keeps failing is dead-lettered and blocks its key.
 */
export type HandleEvents = (events: readonly ReceivedEvent[], context: HandlerContext) => Promise<void>;

/** The context that a handler receives in addition to the events. */
export interface HandlerContext {
  /** The trace of the request that caused the first event. */
  trace: Trace;
  log: Logger;
  /** Aborted at the deadline of the handler, and when the partition is assigned to another consumer. */
  signal: AbortSignal;
}
