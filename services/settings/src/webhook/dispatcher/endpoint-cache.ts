import { sharedRead } from '@ticketing/runtime/shared-read.ts';
import type { WebhookState } from '../rules/endpoint.ts';
import type { WebhookStore } from '../store.ts';

/** The webhook endpoints as they were a moment ago, by id. Errors: store_unavailable. */
export interface EndpointCache {
  read(): Promise<ReadonlyMap<number, WebhookState>>;
  /** Makes the next read see all writes before this call. */
  invalidate(): void;
}

const maxAgeMs = 250;

/** Caches the endpoints. */
export function endpointCache({ all }: Pick<WebhookStore, 'all'>): EndpointCache {
  let cached: { endpoints: ReadonlyMap<number, WebhookState>; readAt: number } | undefined;
  let invalidations = 0;
  const refresh = sharedRead(async () => {
    const readAt = performance.now();
    const before = invalidations;
    const endpoints = new Map((await all()).map((webhook) => [webhook.id, webhook]));
    if (invalidations === before) cached = { endpoints, readAt };
    return endpoints;
  });
  return {
    async read() {
      return cached && performance.now() - cached.readAt < maxAgeMs ? cached.endpoints : refresh();
    },
    invalidate() {
      invalidations += 1;
      cached = undefined;
    },
  };
}
