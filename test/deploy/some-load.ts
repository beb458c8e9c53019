import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { System } from '../e2e/harness.ts';

/** Requests that go on until they are stopped. */
export interface Load {
  /** Errors: the first response without success. */
  stop(): Promise<void>;
}

/**
 * Sends a system requests of each kind, so that every part of it has something to do: tickets that are created, read,
 * changed, searched, analysed and deleted, exports, and deliveries to a webhook.
 */
export async function startLoad(system: System): Promise<Load> {
  const token = await system.identity.issuerToken({ roleId: 1 });
  const send = async (method: string, path: string, body?: object): Promise<{ id?: number }> => {
    const response = await fetch(system.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} responded with ${response.status}: ${text.slice(0, 300)}`);
    return text.startsWith('{') ? JSON.parse(text) : {};
  };
  const receiver = createServer((request, response) => {
    request.resume();
    response.end();
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  await send('POST', '/webhook', { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` });
  let isStopping = false;
  const ended = (async () => {
    while (!isStopping) await sendRound(send);
  })();
  ended.catch(() => undefined);
  return {
    async stop() {
      isStopping = true;
      await ended.finally(() => {
        receiver.closeAllConnections();
        receiver.close();
      });
    },
  };
}

async function sendRound(send: (method: string, path: string, body?: object) => Promise<{ id?: number }>) {
  const { id } = await send('POST', '/ticket', {
    channel: 'email',
    from: 'kim@example.com',
    subject: 'Zählerstand',
    body: '<p>Mein Zählerstand ist 4711.</p>',
  });
  await send('GET', `/ticket/${id}`);
  await send('PATCH', `/ticket/${id}`, { status: 'closed' });
  await send('POST', '/ticket/search', { filters: [{ key: 'q', comparator: '=', value: 'zahlerstand' }], limit: 10 });
  await send('GET', '/export/reporting_tickets?format=json&limit=10');
  await send('DELETE', `/ticket/${id}`);
  // A person may send 600 requests a minute.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
}
