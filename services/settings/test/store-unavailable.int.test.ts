import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type Receiver, startReceiver, startWebhookHarness, type WebhookHarness } from './webhook-harness.ts';

let harness: WebhookHarness;
let receiver: Receiver;
let forwarder: Server;
const sockets = new Set<Socket>();
let port = 0;

/** Forwards connections to the database until it is closed. */
function openForwarder(): Promise<void> {
  const target = new URL(inject('mongodbUri').replace('mongodb:', 'http:'));
  forwarder = createServer((socket) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const end of [socket, upstream]) {
      sockets.add(end);
      end.on('error', () => undefined);
    }
    socket.pipe(upstream).pipe(socket);
  });
  return new Promise((resolve) => {
    forwarder.listen(port, '127.0.0.1', () => {
      const address = forwarder.address();
      port = typeof address === 'object' && address ? address.port : 0;
      resolve();
    });
  });
}

async function disconnect(): Promise<void> {
  const closed = new Promise((resolve) => forwarder.close(resolve));
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await closed;
}

beforeAll(async () => {
  await openForwarder();
  // The first instance handles events; the dispatcher is in another one, behind the forwarder.
  harness = await startWebhookHarness({ variables: { ROLES: 'api,consumer' } });
  receiver = await startReceiver(async () => {
    await hold;
    return { status: 204 };
  });
});

afterAll(async () => {
  await harness.stop();
  await disconnect();
  await receiver.stop();
});

let hold: Promise<void> | undefined;

it('a dispatcher whose database is unavailable for a while goes on where it was', async () => {
  const dispatching = await harness.startInstance({
    TICKETING_SETTINGS_ROLES: 'dispatcher',
    TICKETING_SETTINGS_MONGODB_URI: `mongodb://127.0.0.1:${port}/?directConnection=true`,
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  hold = promise;
  const { id } = await harness.createWebhook({ url: receiver.url });
  const first = await harness.publish(...[1, 2, 3, 4, 5, 6].map((ticketId) => ({ ticketId })));
  await expect.poll(() => receiver.received.length).toBe(4);
  await disconnect();
  // The results of these four cannot be recorded yet.
  resolve();
  const second = await harness.publish({ ticketId: 1, version: 2 }, { ticketId: 7 });
  await expect.poll(async () => (await harness.deliveries(id)).length).toBe(8);
  await openForwarder();
  const statuses = async () => (await harness.deliveries(id)).map(({ status }) => status);
  await expect.poll(statuses, { timeout: 15_000 }).toEqual(Array(8).fill('delivered'));
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids)).toEqual(new Set([...first, ...second]));
  expect(ids).toHaveLength(8);
  await dispatching.stop();
}, 40_000);
