import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { VerifiedToken, VerifyToken } from '@ticketing/service-kit/identity/access-token.ts';
import { type Caller, isHuman, type ProfileKind } from '@ticketing/service-kit/identity/caller.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addressKey } from './address-key.ts';
import { concurrencyLimiter } from './concurrency-limiter.ts';
import { type Credential, credentialOf } from './credential.ts';
import { requestContextOf } from './request-context.ts';
import { requireSameOrigin } from './same-origin.ts';
import { sessionPath } from './session-routes.ts';
import { type WindowCount, windowCounter } from './window-counter.ts';

/** The rules and limits by which requests are admitted. */
export interface AdmissionRules {
  verify: VerifyToken;
  sessionCookie: string;
  publicOrigin: string | undefined;
  rateLimits: Readonly<Record<ProfileKind, number>>;
  failedTokensPerMinute: number;
  now: () => number;
}

/** How many requests of one caller may be in flight, so that one that sends slowly does not use all connections. */
const maxInFlightOfPeople = 32;
const maxInFlightOfMachines = 512;

/**
 * Makes the hook for every request except those of public pages: it checks the credential, the rate limit, the
 * concurrency limit and the origin. The limits are counted in this process only.
 *
 * Errors: missing_token, invalid_token, issuer_unavailable, rate_limited, too_many_at_once, cross_site_request.
 * Source: docs/reference/api.md, Credentials; docs/reference/api.md, Cookies; docs/reference/api.md, Limits of use.
 */
export function admissionHook(rules: AdmissionRules): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const used = windowCounter(rules.now);
  const inFlight = concurrencyLimiter();
  const verify = rateLimitedVerifier(rules);
  return async (request, reply) => {
    const context = requestContextOf(request);
    const credential = credentialOf(request.headers, rules.sessionCookie);
    const { method: verb, url, headers } = request;
    const cookieRequest = { verb, url, headers, route: context.route };
    const verified = await verify(credential, request.ip).catch((error: unknown) => {
      if (clearsSession(request, credential)) return undefined;
      throw error;
    });
    // A cookie that no longer verifies can still be cleared: that only needs a page of the same origin.
    if (!verified) return requireSameOrigin(cookieRequest, rules.publicOrigin);
    const { caller, expiresAt } = verified;
    context.admission = { ...credential, caller, expiresAt };
    const key = callerKey(caller);
    const limit = caller.kind === 'service' ? 0 : rules.rateLimits[caller.kind];
    const count = used.count(key, limit);
    reply.headers({
      'ratelimit-limit': count.limit,
      'ratelimit-remaining': count.remaining,
      'ratelimit-reset': count.resetSeconds,
    });
    if (count.isExceeded) throw rateLimited('This caller has sent too many requests.', count);
    const end = inFlight.acquire(key, isHuman(caller) ? maxInFlightOfPeople : maxInFlightOfMachines);
    if (!end) throw tooManyAtOnce();
    reply.raw.once('close', end);
    if (credential.source === 'cookie') requireSameOrigin(cookieRequest, rules.publicOrigin);
  };
}

/** Whether a request only clears the session cookie that it carries. */
function clearsSession({ method, routeOptions }: FastifyRequest, { source }: Credential): boolean {
  return source === 'cookie' && method === 'DELETE' && routeOptions.url === sessionPath;
}

/** The key under which the requests of a caller are counted. */
function callerKey({ kind, profileId }: Caller): string {
  return `${kind} ${profileId}`;
}

/** Verifies tokens, but none from an address that has sent too many invalid ones in the current minute. */
function rateLimitedVerifier(
  rules: AdmissionRules,
): (credential: Credential, address: string) => Promise<VerifiedToken> {
  const { failedTokensPerMinute: limit } = rules;
  const failed = windowCounter(rules.now);
  return async ({ token }, address) => {
    const key = addressKey(address);
    const count = failed.peek(key, limit);
    if (limit > 0 && count.remaining === 0) {
      throw rateLimited('This address has sent too many invalid tokens.', count);
    }
    try {
      return await rules.verify(token);
    } catch (error) {
      if (error instanceof DomainError && error.reason === 'invalid_token') failed.count(key, limit);
      throw error;
    }
  };
}

function tooManyAtOnce(): DomainError {
  const detail = 'This caller has too many requests in flight.';
  return new DomainError('resource_exhausted', 'too_many_at_once', detail, { retryAfterSeconds: 1 });
}

function rateLimited(detail: string, { resetSeconds }: WindowCount): DomainError {
  return new DomainError('resource_exhausted', 'rate_limited', detail, { retryAfterSeconds: resetSeconds });
}
