import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addressKey } from '../admission/address-key.ts';
import { tooManyAtOnce } from '../admission/caller-limits.ts';
import { concurrencyLimiter } from '../admission/concurrency-limiter.ts';
import { onClosed } from './on-closed.ts';

/**
 * Counts a request until its response has ended. Requests of different groups are counted separately.
 *
 * Errors: too_many_at_once.
 */
export type CountAnonymous = (address: string | undefined, group: string, reply: FastifyReply) => void;

/** Limits the requests in flight of each client address that need no credential. */
export function anonymousLimit(limit: number): CountAnonymous {
  const inFlight = concurrencyLimiter();
  return (address, group, reply) => {
    const end = inFlight.acquire(`${group} ${addressKey(address)}`, limit);
    if (!end) throw tooManyAtOnce('This address has too many requests without a credential in flight.');
    onClosed(reply, end);
  };
}

/** Which requests of a server need no credential, and who sends them. */
export interface AnonymousRequests {
  limit: number;
  isAnonymous(request: FastifyRequest): boolean;
  findAddress(request: FastifyRequest): string | undefined;
}

const probePaths = new Set(['/healthz', '/readyz']);

/**
 * Limits requests for public paths. Probes are counted separately, so that readers of documents behind one address do not
 * make a load balancer take the process for a sick one.
 */
export function limitAnonymous(app: FastifyInstance, { limit, isAnonymous, findAddress }: AnonymousRequests): void {
  const count = anonymousLimit(limit);
  app.addHook('onRequest', (request, reply, done) => {
    if (isAnonymous(request)) {
      count(findAddress(request), probePaths.has(request.routeOptions.url ?? '') ? 'probes' : 'documents', reply);
    }
    done();
  });
}
