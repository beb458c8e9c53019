import { callerLimits } from '@ticketing/service-kit/admission/caller-limits.ts';
import { failedTokens } from '@ticketing/service-kit/admission/failed-tokens.ts';
import type { RateLimits } from '@ticketing/service-kit/admission/rate-limits.ts';
import type { VerifiedToken, VerifyToken } from '@ticketing/service-kit/identity/access-token.ts';
import { onClosed } from '@ticketing/service-kit/server/on-closed.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ClientAddress } from '../request/client-address.ts';
import { type Credential, findRequestContext } from '../request/context.ts';
import { sessionPath } from '../session/routes.ts';
import { readCredential } from './credential.ts';
import { requireSameOrigin } from './same-origin.ts';

/** The rules and limits by which requests are admitted. */
export interface AdmissionRules {
  verify: VerifyToken;
  sessionCookie: string;
  publicOrigin: string | undefined;
  rateLimits: RateLimits;
  failedTokensPerMinute: number;
  addressOf: ClientAddress;
  monotonicMs: () => number;
}

/**
 * Makes the check for every request except those of public pages: it checks the credential, the rate limit, the
 * concurrency limit and the origin. The limits are counted in this process only. For a token that was verified before it
 * is done at once, and returns no promise.
 *
 * Errors: missing_token, invalid_token, issuer_unavailable, rate_limited, too_many_at_once, cross_site_request.
 * Source: docs/reference/api.md, Credentials; docs/reference/api.md, Cookies; docs/reference/api.md, Limits of use.
 */
export function admissionCheck(
  rules: AdmissionRules,
): (request: FastifyRequest, reply: FastifyReply) => void | Promise<void> {
  const limits = callerLimits(rules.rateLimits, rules.monotonicMs);
  const failed = failedTokens(rules.failedTokensPerMinute, rules.monotonicMs);
  const admit = (request: FastifyRequest, reply: FastifyReply, credential: Credential, verified: VerifiedToken) => {
    const { caller, expiresAt } = verified;
    const setHeader = (name: string, value: number) => void reply.header(name, value);
    const context = findRequestContext(request);
    context.admission = { ...credential, caller, expiresAt };
    context.countMore = (requests) => limits.countMore(caller, requests, setHeader);
    onClosed(reply, limits.begin(caller, setHeader));
    if (credential.source === 'cookie') requireOwnOrigin(request, rules);
  };
  return (request, reply) => {
    const credential = readCredential(request.headers, rules.sessionCookie);
    const verified = failed.guard(rules.addressOf(request), () => rules.verify(credential.token));
    if (!(verified instanceof Promise)) return admit(request, reply, credential, verified);
    return verified.then(
      (fresh) => admit(request, reply, credential, fresh),
      (error: unknown) => {
        if (!clearsSession(request, credential)) throw error;
        // A cookie that no longer verifies can still be cleared: that only needs a page of the same origin.
        requireOwnOrigin(request, rules);
      },
    );
  };
}

function requireOwnOrigin(request: FastifyRequest, { publicOrigin }: AdmissionRules): void {
  const { method: verb, url, headers } = request;
  requireSameOrigin({ verb, url, headers, route: findRequestContext(request).route }, publicOrigin);
}

/** Whether a request only clears the session cookie that it carries. */
function clearsSession({ method, routeOptions }: FastifyRequest, { source }: Credential): boolean {
  return source === 'cookie' && method === 'DELETE' && routeOptions.url === sessionPath;
}
