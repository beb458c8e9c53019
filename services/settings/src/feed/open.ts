import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { type AdmitFollower, followerLimits } from './follower-limits.ts';
import { type EventStore, eventStore } from './store.ts';
import { type FeedTail, feedTail } from './tail.ts';

/** The dependencies of the handlers of the feed. */
export interface FeedParts {
  events: EventStore;
  tail: FeedTail;
  admitFollower: AdmitFollower;
  /** Aborts when the servers of this process close. */
  closing: AbortSignal;
  runtime: Runtime;
}

type KitOfFeed = Pick<Kit<unknown, unknown>, 'database' | 'limits' | 'closing' | 'runtime' | 'log' | 'onClose'>;

/** Opens the feed on the database of a kit. */
export function openFeed({ database, limits, closing, runtime, log, onClose }: KitOfFeed): FeedParts {
  const events = eventStore(database.connection, runtime, () => tail.wake());
  const tail = feedTail(events, (error) => log.warn({ err: error }, 'the end of the feed cannot be read'));
  onClose(() => tail.close());
  return { events, tail, admitFollower: followerLimits(limits), closing, runtime };
}
