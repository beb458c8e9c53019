import { callerLimits } from '@ticketing/service-kit/admission/caller-limits.ts';
import { failedTokens } from '@ticketing/service-kit/admission/failed-tokens.ts';
import type { RateLimits } from '@ticketing/service-kit/admission/rate-limits.ts';
import type { VerifyToken } from '@ticketing/service-kit/identity/access-token.ts';
import { onClosed } from '@ticketing/service-kit/server/on-closed.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Credential, credentialOf } from './credential.ts';
import { requestContextOf } from './request-context.ts';
import { requireSameOrigin } from './same-origin.ts';
import { sessionPath } from './session-routes.ts';

/** The rules and limits by which requests are admitted. */
export interface AdmissionRules {
  verify: VerifyToken;
  sessionCookie: string;
  publicOrigin: string | undefined;
  rateLimits: RateLimits;
  failedTokensPerMinute: number;
  now: () => number;
}

/**
 * Makes the hook for every request except those of public pages: it checks the credential, the rate limit, the
 * concurrency limit and the origin. The limits are counted in this process only.
 *
 * Errors: missing_token, invalid_token, issuer_unavailable, rate_limited, too_many_at_once, cross_site_request.
 * Source: docs/reference/api.md, Credentials; docs/reference/api.md, Cookies; docs/reference/api.md, Limits of use.
 */
export function admissionHook(rules: AdmissionRules): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const limits = callerLimits(rules.rateLimits, rules.now);
  const failed = failedTokens(rules.failedTokensPerMinute, rules.now);
  return async (request, reply) => {
    const context = requestContextOf(request);
    const credential = credentialOf(request.headers, rules.sessionCookie);
    const { method: verb, url, headers } = request;
    const cookieRequest = { verb, url, headers, route: context.route };
    const verified = await failed
      .guard(request.ip, () => rules.verify(credential.token))
      .catch((error: unknown) => {
        if (clearsSession(request, credential)) return undefined;
        throw error;
      });
    // A cookie that no longer verifies can still be cleared: that only needs a page of the same origin.
    if (!verified) return requireSameOrigin(cookieRequest, rules.publicOrigin);
    const { caller, expiresAt } = verified;
    context.admission = { ...credential, caller, expiresAt };
    onClosed(
      reply,
      limits.begin(caller, (name, value) => reply.header(name, value)),
    );
    if (credential.source === 'cookie') requireSameOrigin(cookieRequest, rules.publicOrigin);
  };
}

/** Whether a request only clears the session cookie that it carries. */
function clearsSession({ method, routeOptions }: FastifyRequest, { source }: Credential): boolean {
  return source === 'cookie' && method === 'DELETE' && routeOptions.url === sessionPath;
}
