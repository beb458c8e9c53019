import type { DescService } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '@ticketing/contracts/grpc/health/v1/health_pb.ts';

/** Says whether this process takes calls now. Probes, health services and shutdown all look at one such object. */
export interface Readiness {
  isReady(): boolean;
  /** Calls the listener after each change, until the function that it answers is called. */
  onChange(listener: () => void): () => void;
}

/**
 * Serves the standard health protocol of gRPC for a process and each of its services, all of which share its readiness.
 *
 * A watch sends the present state, then each change of it; it ends when the caller goes away or the server stops, for
 * which the server needs `shutdownTimeoutMs`.
 * Errors: NOT_FOUND from Check for a service that is not listed; Watch sends SERVICE_UNKNOWN and stays open.
 */
export function healthRoutes(readiness: Readiness, services: readonly DescService[]): (router: ConnectRouter) => void {
  const known = new Set(['', ...services.map((service) => service.typeName)]);

  function statusOf(service: string): ServingStatus {
    if (!known.has(service)) return ServingStatus.SERVICE_UNKNOWN;
    return readiness.isReady() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  }

  return (router) => {
    router.service(Health, {
      check({ service }) {
        if (!known.has(service)) throw new ConnectError('there is no such service', Code.NotFound);
        return { status: statusOf(service) };
      },
      async *watch({ service }, { signal }) {
        let changed = Promise.withResolvers<void>();
        const wake = () => changed.resolve();
        const unsubscribe = readiness.onChange(wake);
        signal.addEventListener('abort', wake, { once: true });
        try {
          let sent: ServingStatus | undefined;
          while (!signal.aborted) {
            // Armed before the state is read, so that no change falls between.
            changed = Promise.withResolvers();
            const status = statusOf(service);
            if (status !== sent) yield { status };
            sent = status;
            await changed.promise;
          }
        } finally {
          unsubscribe();
        }
      },
    });
  };
}
