import type { DescService } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '@ticketing/contracts/grpc/health/v1/health_pb.ts';
import type { Readiness } from '../observability/health.ts';

/**
 * Serves the standard health protocol of gRPC for a process and each of its services, all of which have the readiness of
 * the process.
 *
 * A watch sends the current state, then each change. It ends when the client cancels it or the server stops; for the
 * latter the server must be given `shutdownTimeoutMs`.
 * Errors: NOT_FOUND from Check for a service that is not listed; Watch sends SERVICE_UNKNOWN and stays open.
 */
export function healthRoutes(readiness: Readiness, services: readonly DescService[]): (router: ConnectRouter) => void {
  const known = new Set(['', ...services.map((service) => service.typeName)]);

  function readStatus(service: string): ServingStatus {
    if (!known.has(service)) return ServingStatus.SERVICE_UNKNOWN;
    return readiness.isReady() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  }

  return (router) => {
    router.service(Health, {
      check({ service }) {
        if (!known.has(service)) throw new ConnectError('there is no such service', Code.NotFound);
        return { status: readStatus(service) };
      },
      async *watch({ service }, { signal }) {
        let changed = Promise.withResolvers<void>();
        const recheck = () => changed.resolve();
        const unsubscribe = readiness.onChange(recheck);
        signal.addEventListener('abort', recheck, { once: true });
        try {
          let sent: ServingStatus | undefined;
          while (!signal.aborted) {
            // Made before the state is read, so that no change in between is missed.
            changed = Promise.withResolvers();
            const status = readStatus(service);
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
