import { expect, it } from 'vitest';
import type { WebhookState } from '../rules/endpoint.ts';
import { endpointCache } from './endpoint-cache.ts';

/** A cache over reads that the test ends one by one. */
function cacheOverReads() {
  const reads: PromiseWithResolvers<WebhookState[]>[] = [];
  const cache = endpointCache({
    all() {
      const read = Promise.withResolvers<WebhookState[]>();
      reads.push(read);
      return read.promise;
    },
  });
  return { cache, reads };
}

const named = (id: number) => [{ id } as WebhookState];

it('reads once for a while', async () => {
  const { cache, reads } = cacheOverReads();
  const first = cache.read();
  reads[0]?.resolve(named(1));
  expect([...(await first).keys()]).toEqual([1]);
  expect(await cache.read()).toBe(await first);
  expect(reads).toHaveLength(1);
});

it('does not keep what was read before a change', async () => {
  const { cache, reads } = cacheOverReads();
  const before = cache.read();
  cache.invalidate();
  reads[0]?.resolve(named(1));
  await before;
  const after = cache.read();
  reads[1]?.resolve(named(2));
  expect([...(await after).keys()]).toEqual([2]);
});
