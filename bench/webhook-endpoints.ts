import { type Address, call } from './load.ts';

/** Webhook endpoints of a system. */
export interface WebhookEndpoints {
  create(urls: readonly string[], status?: 'active' | 'paused'): Promise<void>;
  /** Continues the deliveries of all of them. */
  activate(): Promise<void>;
  removeAll(): Promise<void>;
  ids(): number[];
}

/** Manages webhook endpoints by the API. Errors: a response that is not a success. */
export function openEndpoints(address: Address): WebhookEndpoints {
  let ids: number[] = [];
  return {
    async create(urls, status = 'active') {
      for (const url of urls) {
        ids.push((await call(address, { method: 'POST', path: '/webhook', body: { url, status } })).id);
      }
    },
    async activate() {
      await Promise.all(
        ids.map((id) => call(address, { method: 'PATCH', path: `/webhook/${id}`, body: { status: 'active' } })),
      );
    },
    async removeAll() {
      await Promise.all(ids.map((id) => call(address, { method: 'DELETE', path: `/webhook/${id}` })));
      ids = [];
    },
    ids: () => [...ids],
  };
}
