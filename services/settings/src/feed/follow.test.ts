import type { Call } from '@ticketing/service-kit/call/call.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { followEvents } from './follow.ts';
import type { FeedParts } from './open.ts';

const request = { $typeName: 'ticketing.settings.v1.FollowEventsRequest' as const, types: [] };

test.each(['the process stops', 'the token expires'])(
  'when %s, the response of a client that does not read is ended',
  async (what) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const closing = new AbortController();
    const gone = new AbortController();
    let isEnded = false;
    const call = {
      caller: { expiresAt: Date.now() / 1000 + 10 },
      api: 'rpc',
      gone: gone.signal,
      endResponse() {
        isEnded = true;
        gone.abort();
      },
    } as Partial<Call>;
    const feed: Partial<FeedParts> = {
      admitFollower: () => () => undefined,
      closing: closing.signal,
      runtime: { now: Date.now } as FeedParts['runtime'],
      events: { bounds: async () => undefined } as Partial<FeedParts['events']> as FeedParts['events'],
    };
    const messages = followEvents(feed as FeedParts, call as Call, request);
    await messages.next();
    if (what === 'the process stops') closing.abort();
    else await vi.advanceTimersByTimeAsync(10_000);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(isEnded).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isEnded).toBe(true);
  },
);
