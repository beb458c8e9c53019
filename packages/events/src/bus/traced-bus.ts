import { continueTrace, renderTraceparent, type Trace } from '@ticketing/runtime/trace.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import type { Bus, OutgoingMessage } from './bus.ts';

/** Records a span of each message that is published; its receiver continues the trace from there. */
export function tracedBus(bus: Bus, tracer: Tracer): Bus {
  return {
    ...bus,
    async publish(topic, messages) {
      const startedAt = performance.now();
      const traced = messages.map((message) => beginSpan(message, tracer));
      let error: string | undefined;
      try {
        await bus.publish(
          topic,
          traced.map(({ message }) => message),
        );
      } catch (thrown) {
        error = 'failed';
        throw thrown;
      } finally {
        const durationMs = performance.now() - startedAt;
        for (const { message, trace } of traced) {
          if (!trace) continue;
          const attributes = {
            'messaging.destination.name': topic,
            'messaging.message.id': message.headers.ce_id ?? '',
            'messaging.batch.message_count': messages.length,
          };
          tracer.record({ trace, name: `publish ${topic}`, kind: 'producer', durationMs, error, attributes });
        }
      }
    },
  };
}

/** Returns a message whose trace continues with a new span; unchanged if it belongs to none. */
function beginSpan(message: OutgoingMessage, tracer: Tracer): { message: OutgoingMessage; trace: Trace | undefined } {
  const { traceparent } = message.headers;
  if (traceparent === undefined) return { message, trace: undefined };
  const trace = continueTrace(traceparent);
  const headers = { ...message.headers, traceparent: renderTraceparent(trace, tracer) };
  return { message: { ...message, headers }, trace };
}
