import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { monotonicMs, type Received, type ReceiverOrder } from './webhook-receivers.ts';

/** Receives webhooks at one port per endpoint. Its argument is how many endpoints there are. */
const [count = ''] = process.argv.slice(2);
const responseMs = 5;
const reportEveryMs = 20;
let received: Received[] = [];
let hanging: number | undefined;
/** The responses that were kept back. */
let keptBack: ServerResponse[] = [];

process.on('message', (order: ReceiverOrder) => {
  hanging = order.hanging;
  for (const response of keptBack) response.writeHead(204).end();
  keptBack = [];
  process.send?.({ received: [], isCarriedOut: true });
});
process.once('disconnect', () => process.exit(0));

const ports = await Promise.all(Array.from({ length: Number(count) }, (_, endpoint) => listen(endpoint)));
process.send?.({ ports });
// Many at a time, because messages between processes cost more than the requests.
setInterval(() => {
  if (received.length === 0) return;
  process.send?.({ received });
  received = [];
}, reportEveryMs);

async function listen(endpoint: number): Promise<number> {
  const server = createServer(async (request, response) => {
    const at = monotonicMs();
    let text = '';
    for await (const chunk of request) text += chunk;
    if (hanging === endpoint) {
      keptBack.push(response);
      return;
    }
    const { data } = JSON.parse(text) as { data: { ticketId: number; version: number } };
    received.push({ endpoint, ticketId: data.ticketId, version: data.version, at });
    await setTimeout(responseMs);
    response.writeHead(204).end();
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
