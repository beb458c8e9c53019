import type { ServiceImplementation } from '@ticketing/rest/routes/rest-api.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import type { Call } from '../call/call.ts';

/** Runs each handler as a part of the trace of its call, except handlers of streams, which run while they are read. */
export function traceHandlers(
  implementations: readonly ServiceImplementation<Call>[],
  tracer: Tracer,
): ServiceImplementation<Call>[] {
  return implementations.map(({ service, handlers, streams }) => ({
    service,
    handlers: new Map(
      [...handlers].map(([method, handle]) => [
        method,
        (call, message) => tracer.run(call.trace, () => handle(call, message)),
      ]),
    ),
    streams,
  }));
}
