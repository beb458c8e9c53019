import { tooManyAtOnce } from '@ticketing/service-kit/admission/caller-limits.ts';
import { concurrencyLimiter } from '@ticketing/service-kit/admission/concurrency-limiter.ts';
import type { ServerLimits } from '@ticketing/service-kit/config/server-limits.ts';
import { type Caller, callerKey } from '@ticketing/service-kit/identity/caller.ts';

/** Counts a follower. Returns the function to call at its end. Errors: too_many_at_once. */
export type AdmitFollower = (caller: Caller) => () => void;

/**
 * Limits the followers of the feed in this process: of each caller, and together. They are not counted with the handlers,
 * which end soon.
 *
 * Source: docs/reference/api.md, Limits of use.
 */
export function followerLimits(limits: Pick<ServerLimits, 'followersOfCaller' | 'followers'>): AdmitFollower {
  const followers = concurrencyLimiter();
  return (caller) => {
    const leaveAll = followers.acquire('all', limits.followers);
    if (!leaveAll) throw tooManyAtOnce('This process has too many followers of the feed.');
    const leaveOwn = followers.acquire(`caller ${callerKey(caller)}`, limits.followersOfCaller);
    if (!leaveOwn) {
      leaveAll();
      throw tooManyAtOnce('This caller follows the feed too often at the same time.');
    }
    return () => {
      leaveOwn();
      leaveAll();
    };
  };
}
