import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type EventSourceClient, openEventSource } from '@ticketing/testkit/event-source.ts';
import { holdTimer } from '@ticketing/testkit/held-timer.ts';
import { untilStill } from '@ticketing/testkit/until-still.ts';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { type GatewayHarness, startHarness } from '../../test/harness.ts';

let harness: GatewayHarness;

beforeAll(async () => {
  harness = await startHarness();
});

afterAll(() => harness.stop());

/** A stream through a gateway, and the side of the service. */
interface OpenStream {
  client: EventSourceClient;
  request: IncomingMessage;
  response: ServerResponse;
}

async function openStream(at: GatewayHarness, headers: Record<string, string> = {}): Promise<OpenStream> {
  const called = Promise.withResolvers<Pick<OpenStream, 'request' | 'response'>>();
  at.stub.next((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: 0\n\n');
    called.resolve({ request, response });
  });
  const url = `http://127.0.0.1:${at.gateway.ports.http}/ticket/1`;
  const client = await openEventSource(url, { authorization: at.bearer, ...headers });
  expect(client.status).toBe(200);
  return { client, ...(await called.promise) };
}

it('passes each event on at once, and the last id of the client', async () => {
  const { client, request, response } = await openStream(harness, { 'last-event-id': 'e7' });
  expect(request.headers).toMatchObject({ accept: 'text/event-stream', 'last-event-id': 'e7' });
  expect(client.headers['content-type']).toBe('text/event-stream');
  expect(await client.next()).toMatchObject({ id: '0' });
  for (const id of ['1', '2', '3']) {
    response.write(`id: ${id}\ndata: {}\n\n`);
    expect(await client.next()).toEqual({ id, event: undefined, data: '{}' });
  }
  response.end();
  expect(await client.next()).toBeUndefined();
});

it('does not end a stream that pauses for longer than the deadline', async () => {
  const impatient = await startHarness({ DEADLINE_MS: '300' });
  onTestFinished(() => impatient.stop());
  // The stream itself may begin too late for this deadline, on a busy machine.
  const { client, response } = await vi.waitFor(() => openStream(impatient), { timeout: 30_000 });
  await client.next();
  // The deadline of a later call passes after that of the stream.
  impatient.stub.next(() => undefined);
  expect((await impatient.call('GET', '/ticket/1')).status).toBe(504);
  response.end('id: 1\n\n');
  expect(await client.next()).toMatchObject({ id: '1' });
});

it('breaks off a stream that its service breaks off', async () => {
  const { client, response } = await openStream(harness);
  await client.next();
  response.destroy();
  await expect(client.next()).rejects.toThrow('aborted');
});

it('ends the call of the service when the client leaves', async () => {
  const { client, request } = await openStream(harness);
  const closed = once(request.socket, 'close');
  client.close();
  await closed;
});

it('counts a stream as one request in flight', async () => {
  const streams: OpenStream[] = [];
  for (let count = 0; count < 32; count++) streams.push(await openStream(harness));
  const refused = await harness.call('GET', '/ticket/1');
  expect(refused).toMatchObject({ status: 429, json: { code: 'too_many_at_once' } });
  streams[0]?.client.close();
  await expect.poll(async () => (await harness.call('GET', '/ticket/1')).status).toBe(200);
  for (const { client } of streams) client.close();
});

it('ends the connection of a client that does not read when it stops', async () => {
  const other = await startHarness({ DRAIN_MS: '0' });
  const { client, response } = await openStream(other);
  await client.next();
  client.pause();
  // More than all buffers between the service and the client hold.
  const fill = () => {
    while (!response.destroyed && response.write('x'.repeat(1024 * 1024)));
    response.once('drain', fill);
  };
  fill();
  await untilStill(() => response.socket?.bytesWritten ?? 0);
  const patience = holdTimer((ms) => ms === 2_000);
  const stopped = other.gateway.stop();
  (await patience)();
  await stopped;
  await other.stub.close();
  other.identity.remove();
});

it('ends its streams when it stops, so that they look complete to the client', async () => {
  const other = await startHarness({ DRAIN_MS: '0' });
  const { client, request } = await openStream(other);
  await client.next();
  const closed = once(request.socket, 'close');
  const stopped = other.gateway.stop();
  expect(await client.next()).toBeUndefined();
  await closed;
  await stopped;
  await other.stub.close();
  other.identity.remove();
});
