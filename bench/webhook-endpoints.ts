import type { Address } from './load.ts';

/** Webhook endpoints of a system. */
export interface WebhookEndpoints {
  create(urls: readonly string[], status?: 'active' | 'paused'): Promise<void>;
  /** Continues the deliveries of all of them. */
  activate(): Promise<void>;
  removeAll(): Promise<void>;
  ids(): number[];
}

/** Manages webhook endpoints by the API. Errors: a response that is not a success. */
export function openEndpoints({ url, headers }: Address): WebhookEndpoints {
  let ids: number[] = [];
  const call = async (method: string, path: string, body?: object): Promise<Response> => {
    const response = await fetch(`${url}/webhook${path}`, {
      method,
      headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      body: body ? JSON.stringify(body) : null,
    });
    if (!response.ok) throw new Error(`${method} /webhook${path} responded with ${response.status}.`);
    return response;
  };
  return {
    async create(urls, status = 'active') {
      for (const one of urls) {
        const { id } = (await (await call('POST', '', { url: one, status })).json()) as { id: number };
        ids.push(id);
      }
    },
    async activate() {
      await Promise.all(ids.map((id) => call('PATCH', `/${id}`, { status: 'active' })));
    },
    async removeAll() {
      await Promise.all(ids.map((id) => call('DELETE', `/${id}`)));
      ids = [];
    },
    ids: () => [...ids],
  };
}
