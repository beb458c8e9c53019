import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { type Client, Code, ConnectError, createClient, type HandlerContext } from '@connectrpc/connect';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { expect, test } from 'vitest';
import {
  connect,
  findFailure,
  findSockets,
  pollOptions,
  serveTags,
  tagClient,
  untilAborted,
} from '../../test/tag-server.ts';

interface Killable {
  address: string;
  kill(): Promise<void>;
}

/** A server that never responds. */
const unresponsive = (onCall: () => void): Promise<Killable> => {
  const neverRespond = (_: unknown, { signal }: HandlerContext) => {
    onCall();
    return untilAborted(signal);
  };
  return serveTags({ getTag: neverRespond, createTag: neverRespond });
};

/** A server that sends the headers of its responses and nothing more. */
async function silentAfterHeaders(onCall: () => void): Promise<Killable> {
  const server = createServer();
  const sockets = findSockets(server);
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' });
    // The reply to a ping arrives after the client has read the headers.
    stream.session?.ping(onCall);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    async kill() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Makes calls to two servers until five are in flight on the first, which completes none; then kills that server. */
async function killWhile(
  serveFirst: (onCall: () => void) => Promise<Killable>,
  call: (tags: Client<typeof TagService>) => Promise<unknown>,
) {
  let inFlight = 0;
  let served = 0;
  const lost = await serveFirst(() => {
    inFlight += 1;
  });
  const serveCall = () => {
    served += 1;
    return {};
  };
  const kept = await serveTags({ getTag: serveCall, createTag: serveCall });
  const tags = createClient(TagService, connect([lost, kept]));
  const outcomes: Promise<Code | 'ok'>[] = [];
  /** Makes one more call. Returns whether five are in flight on the first server. */
  const makeCall = () => {
    const outcome = call(tags).then(
      () => 'ok' as const,
      (error: unknown) => ConnectError.from(error).code,
    );
    outcomes.push(outcome);
    return inFlight >= 5;
  };
  await expect.poll(makeCall, pollOptions).toBe(true);
  await lost.kill();
  return { outcomes: await Promise.all(outcomes), inFlight, served };
}

test.each([
  ['before it responds', unresponsive],
  ['after it has sent headers', silentAfterHeaders],
])('no call of a method without side effects is lost when one of two servers is killed %s', async (_, serveFirst) => {
  const { outcomes, served } = await killWhile(serveFirst, (tags) => tags.getTag({ id: 2 }));
  expect(new Set(outcomes)).toEqual(new Set(['ok']));
  expect(served).toBe(outcomes.length);
});

test.each([
  ['before it responds', unresponsive],
  ['after it has sent headers', silentAfterHeaders],
])('a call that may have had an effect is not repeated when one of two servers is killed %s', async (_, serveFirst) => {
  const { outcomes, inFlight, served } = await killWhile(serveFirst, (tags) => tags.createTag({}));
  const lost = outcomes.filter((outcome) => outcome === Code.Unavailable).length;
  expect(lost).toBeGreaterThanOrEqual(inFlight);
  expect(served + lost).toBe(outcomes.length);
});

test('a call whose response is "unavailable" is repeated once, if its method allows that', async () => {
  let calls = 0;
  const refuse = () => {
    calls += 1;
    throw new ConnectError('not now', Code.Unavailable);
  };
  const tags = await tagClient({ getTag: refuse, createTag: refuse });
  expect(await findFailure(tags.getTag({ id: 1 }))).toMatchObject({ code: Code.Unavailable, rawMessage: 'not now' });
  expect(calls).toBe(2);
  expect(await findFailure(tags.createTag({}))).toMatchObject({ code: Code.Unavailable });
  expect(calls).toBe(3);
});
