import { DomainError } from '@ticketing/errors/domain-error.ts';
import { continueTrace, type Trace } from '@ticketing/runtime/trace.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import type { ReceivedEvent } from '../bus/envelope.ts';

/** Events that are handled together, as a part of the trace of the first one. */
interface TracedEvents {
  group: string;
  trace: Trace;
  events: readonly ReceivedEvent[];
}

/**
 * Handles events, and records a span of each in its own trace. The work of the handler is a part of the trace of the
 * first event; the spans of the others name it as a link.
 */
export async function runTraced(
  tracer: Tracer,
  { group, trace, events }: TracedEvents,
  handle: () => Promise<void>,
): Promise<void> {
  const startedAt = performance.now();
  let error: string | undefined;
  try {
    await tracer.run(trace, handle);
  } catch (thrown) {
    error = thrown instanceof DomainError ? thrown.reason : 'failed';
    throw thrown;
  } finally {
    const durationMs = performance.now() - startedAt;
    for (const [index, event] of events.entries()) {
      tracer.record({
        trace: index === 0 ? trace : continueTrace(event.traceparent),
        name: `process ${event.topic}`,
        kind: 'consumer',
        durationMs,
        error,
        attributes: {
          'messaging.destination.name': event.topic,
          'messaging.consumer.group.name': group,
          'messaging.message.id': event.id,
          'messaging.batch.message_count': events.length,
          'ticketing.event.type': event.type,
        },
        links: index === 0 ? [] : [trace],
      });
    }
  }
}
