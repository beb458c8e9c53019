import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { VerifiedToken, VerifyToken } from '@ticketing/service-kit/identity/access-token.ts';
import { isHuman, type ProfileKind } from '@ticketing/service-kit/identity/caller.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addressKey } from './address-key.ts';
import { type Credential, credentialOf } from './credential.ts';
import { requireSameOrigin } from './cross-site.ts';
import { inFlight } from './in-flight.ts';
import { requestContextOf } from './request-context.ts';
import { requestWindow, type WindowCount } from './request-window.ts';

/** By what the gateway decides whom it lets in. */
export interface AdmissionRules {
  verify: VerifyToken;
  sessionCookie: string;
  publicOrigin: string | undefined;
  rateLimits: Readonly<Record<ProfileKind, number>>;
  failedTokensPerMinute: number;
  now: () => number;
}

/** How many requests of one caller may be under way: who sends slowly must not take the places of all others. */
const maxInFlightOfPeople = 32;
const maxInFlightOfMachines = 512;

/**
 * Makes the hook that every request but those of public pages passes: credential, rate limit, cross-site check. Counts
 * are those of this process.
 *
 * Errors: missing_token, invalid_token, issuer_unavailable, rate_limited, too_many_at_once, cross_site_request.
 * Source: decisions.md sections 3 and 13.
 */
export function admitter(rules: AdmissionRules): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const used = requestWindow(rules.now);
  const verify = guardedVerifier(rules);
  const underWay = inFlight();
  return async (request, reply) => {
    const passage = requestContextOf(request);
    const credential = credentialOf(request.headers, rules.sessionCookie);
    const { caller, expiresAt } = await verify(credential, request.ip);
    passage.admission = { ...credential, caller, expiresAt };
    const limit = caller.kind === 'service' ? 0 : rules.rateLimits[caller.kind];
    const count = used.count(`${caller.kind} ${caller.profileId}`, limit);
    reply.headers({
      'ratelimit-limit': count.limit,
      'ratelimit-remaining': count.remaining,
      'ratelimit-reset': count.resetSeconds,
    });
    if (count.isExceeded) throw rateLimited('This caller has sent too many requests.', count);
    const leave = underWay.enter(
      `${caller.kind} ${caller.profileId}`,
      isHuman(caller) ? maxInFlightOfPeople : maxInFlightOfMachines,
    );
    if (!leave) throw tooManyAtOnce();
    reply.raw.once('close', leave);
    if (credential.source === 'cookie') {
      const { method: verb, url, headers } = request;
      requireSameOrigin({ verb, url, headers, route: passage.route }, rules.publicOrigin);
    }
  };
}

/** Verifies tokens, and stops doing so for an address that sends too many that do not hold. */
function guardedVerifier(rules: AdmissionRules): (credential: Credential, address: string) => Promise<VerifiedToken> {
  const { failedTokensPerMinute: limit } = rules;
  const failed = requestWindow(rules.now);
  return async ({ token }, address) => {
    const key = addressKey(address);
    const count = failed.look(key, limit);
    if (limit > 0 && count.remaining === 0) {
      throw rateLimited('This address has sent too many tokens that do not verify.', count);
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
  const detail = 'This caller has too many requests under way.';
  return new DomainError('resource_exhausted', 'too_many_at_once', detail, { retryAfterSeconds: 1 });
}

function rateLimited(detail: string, { resetSeconds }: WindowCount): DomainError {
  return new DomainError('resource_exhausted', 'rate_limited', detail, { retryAfterSeconds: resetSeconds });
}
