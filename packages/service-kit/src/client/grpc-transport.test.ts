import { once } from 'node:events';
import { constants, createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, encodeBinaryHeader, type Interceptor } from '@connectrpc/connect';
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '@ticketing/contracts/grpc/health/v1/health_pb.ts';
import { ServerReflection } from '@ticketing/contracts/grpc/reflection/v1/reflection_pb.ts';
import { ProblemSchema } from '@ticketing/contracts/ticketing/api/v1/problem_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { openForwarder } from '@ticketing/testkit/forwarder.ts';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  connect,
  findFailure,
  findSockets,
  pollOptions,
  serve,
  serveTags,
  type TagStub,
  tagClient,
  untilAborted,
} from '../../test/tag-server.ts';
import { healthRoutes } from '../server/grpc-health.ts';
import { reflectionRoutes } from '../server/grpc-reflection.ts';

describe('a unary call', () => {
  test('returns the response message', async () => {
    const tags = await tagClient({ getTag: ({ id }) => ({ tag: { id, name: 'billing' } }) });
    expect(await tags.getTag({ id: 7 })).toMatchObject({ tag: { id: 7, name: 'billing' } });
  });

  test('sends request headers and receives response headers and trailers, including binary ones', async () => {
    const bytes = new Uint8Array([0, 255, 128, 44]);
    const tags = await tagClient({
      getTag(_, context) {
        context.responseHeader.set('x-echo', context.requestHeader.get('x-sent') ?? '');
        context.responseHeader.set('x-echo-bin', context.requestHeader.get('x-sent-bin') ?? '');
        context.responseTrailer.set('x-cost', '12');
        return {};
      },
    });
    const seen: Record<string, string | null> = {};
    await tags.getTag(
      { id: 1 },
      {
        headers: { 'x-sent': 'one, two', 'x-sent-bin': encodeBinaryHeader(bytes) },
        onHeader(header) {
          seen.text = header.get('x-echo');
          seen.binary = header.get('x-echo-bin');
        },
        onTrailer(trailer) {
          seen.cost = trailer.get('x-cost');
        },
      },
    );
    expect(seen).toEqual({ text: 'one, two', binary: encodeBinaryHeader(bytes), cost: '12' });
  });

  test('fails with the code, message, details and metadata that the server sent', async () => {
    const problem = create(ProblemSchema, { reason: 'unknown_tag', errors: [{ pointer: '#/path/id' }] });
    const tags = await tagClient({
      getTag(_, context) {
        context.responseHeader.set('x-request-id', 'r1');
        throw new ConnectError('no tag “7”', Code.NotFound, { 'x-hint': 'list them' }, [
          { desc: ProblemSchema, value: problem },
        ]);
      },
    });
    const error = await findFailure(tags.getTag({ id: 7 }));
    expect(error).toMatchObject({ code: Code.NotFound, rawMessage: 'no tag “7”' });
    expect(error.findDetails(ProblemSchema)).toEqual([problem]);
    expect([error.metadata.get('x-hint'), error.metadata.get('x-request-id')]).toEqual(['list them', 'r1']);
  });

  test('runs the interceptors', async () => {
    const sign: Interceptor = (next) => (request) => {
      request.header.set('x-signed', request.url);
      return next(request);
    };
    const server = await serveTags({
      createTag: (_, { requestHeader }) => ({ success: requestHeader.has('x-signed') }),
    });
    const tags = createClient(TagService, connect([server], { interceptors: [sign] }));
    expect(await tags.createTag({})).toMatchObject({ success: true });
  });

  test('fails if the response is larger than allowed', async () => {
    const tags = await tagClient({ getTag: () => ({ tag: { name: 'x'.repeat(2_000) } }) }, { readMaxBytes: 1_000 });
    expect(await findFailure(tags.getTag({ id: 1 }))).toMatchObject({ code: Code.ResourceExhausted });
  });

  test('fails as unavailable if no server can be reached', async () => {
    const server = await serveTags({});
    await server.kill();
    const tags = createClient(TagService, connect([server]));
    expect(await findFailure(tags.createTag({}))).toMatchObject({ code: Code.Unavailable });
  });

  test('fails as unavailable if the server takes no more calls now', async () => {
    const server = createServer();
    const sockets = findSockets(server);
    server.on('stream', (stream) => {
      stream.on('error', () => undefined);
      stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const tags = createClient(
      TagService,
      connect([{ address: `127.0.0.1:${(server.address() as AddressInfo).port}` }]),
    );
    expect(await findFailure(tags.createTag({}))).toMatchObject({ code: Code.Unavailable });
  });

  test('fails once the transport is closed', async () => {
    const transport = connect([await serveTags({ createTag: () => ({ id: 1 }) })]);
    const tags = createClient(TagService, transport);
    expect(await tags.createTag({})).toMatchObject({ id: 1 });
    transport.close();
    await expect(tags.createTag({})).rejects.toThrow('Channel has been shut down');
  });
});

describe('deadlines and cancellation', () => {
  // guarantee: I33
  test('a deadline reaches the server and ends the call on both sides', async () => {
    const stopped = Promise.withResolvers<{ timeoutMs: number | undefined; reason: unknown }>();
    const tags = await tagClient({
      createTag: () => ({}),
      async getTag(_, { signal, timeoutMs }) {
        const left = timeoutMs();
        return untilAborted(signal).finally(() => stopped.resolve({ timeoutMs: left, reason: signal.reason }));
      },
    });
    // The first call connects, so that the deadline of the second is not spent on that.
    await tags.createTag({});
    expect(await findFailure(tags.getTag({ id: 1 }, { timeoutMs: 2_000 }))).toMatchObject({
      code: Code.DeadlineExceeded,
    });
    const { timeoutMs, reason } = await stopped.promise;
    expect(timeoutMs).toSatisfy((left: number) => left > 0 && left <= 2_000);
    expect(reason).toBeDefined();
  });

  test('a call without a timeout has the default one, and a call with timeout 0 has no deadline', async () => {
    const seen: (number | undefined)[] = [];
    const getTag: TagStub['getTag'] = (_, { timeoutMs }) => {
      seen.push(timeoutMs());
      return {};
    };
    const defaultTimeoutMs = 600_000;
    const tags = await tagClient({ getTag }, { defaultTimeoutMs });
    await tags.getTag({ id: 1 });
    await tags.getTag({ id: 1 }, { timeoutMs: 0 });
    const isDefault = (left: number) => left > defaultTimeoutMs / 2 && left <= defaultTimeoutMs;
    expect(seen).toEqual([expect.toSatisfy(isDefault), undefined]);
  });

  test('an aborted signal cancels the call on both sides', async () => {
    const entered = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    const tags = await tagClient({
      async getTag(_, { signal }) {
        entered.resolve();
        return untilAborted(signal).finally(stopped.resolve);
      },
    });
    const caller = new AbortController();
    const failure = findFailure(tags.getTag({ id: 1 }, { signal: caller.signal }));
    await entered.promise;
    caller.abort();
    expect(await failure).toMatchObject({ code: Code.Canceled });
    await stopped.promise;
  });

  test('a call whose signal is already aborted is not sent', async () => {
    let calls = 0;
    const tags = await tagClient({
      getTag() {
        calls += 1;
        return {};
      },
    });
    const failure = findFailure(tags.getTag({ id: 1 }, { signal: AbortSignal.abort() }));
    expect(await failure).toMatchObject({ code: Code.Canceled });
    await tags.getTag({ id: 1 });
    expect(calls).toBe(1);
  });
});

describe('a stream', () => {
  test('from the server delivers each message, and ends when its signal is aborted', async () => {
    let isReady = true;
    const listeners = new Set<() => void>();
    const readiness = {
      isReady: () => isReady,
      onChange(listener: () => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    const health = createClient(Health, connect([await serve(healthRoutes(readiness, []))]));
    const caller = new AbortController();
    const seen: ServingStatus[] = [];
    const reading = (async () => {
      for await (const { status } of health.watch({}, { signal: caller.signal, timeoutMs: 0 })) {
        seen.push(status);
        if (seen.length === 3) caller.abort();
        isReady = !isReady;
        for (const listener of listeners) listener();
      }
    })();
    expect(await findFailure(reading)).toMatchObject({ code: Code.Canceled });
    expect(seen).toEqual([ServingStatus.SERVING, ServingStatus.NOT_SERVING, ServingStatus.SERVING]);
    await expect.poll(() => listeners.size, pollOptions).toBe(0);
  });

  test('from the server delivers the messages before an error, then the error with its details', async () => {
    const server = await serve((router) =>
      router.service(Health, {
        async *watch() {
          yield { status: ServingStatus.SERVING };
          throw new ConnectError('enough', Code.Aborted, undefined, [
            { desc: ProblemSchema, value: { reason: 'enough' } },
          ]);
        },
      }),
    );
    const health = createClient(Health, connect([server]));
    const seen: ServingStatus[] = [];
    const reading = (async () => {
      for await (const { status } of health.watch({})) seen.push(status);
    })();
    const error = await findFailure(reading);
    expect(error).toMatchObject({ code: Code.Aborted, rawMessage: 'enough' });
    expect(error.findDetails(ProblemSchema)).toMatchObject([{ reason: 'enough' }]);
    expect(seen).toEqual([ServingStatus.SERVING]);
  });

  test('ends on both sides when an interceptor stops reading', async () => {
    const stopped = Promise.withResolvers<void>();
    const server = await serve((router) =>
      router.service(Health, {
        async *watch(_, { signal }) {
          yield { status: ServingStatus.SERVING };
          await untilAborted(signal).finally(stopped.resolve);
        },
      }),
    );
    const firstOnly: Interceptor = (next) => async (request) => {
      const response = await next(request);
      return response.stream ? { ...response, message: first(response.message) } : response;
    };
    async function* first<T>(messages: AsyncIterable<T>): AsyncGenerator<T> {
      for await (const message of messages) {
        yield message;
        return;
      }
    }
    const health = createClient(Health, connect([server], { interceptors: [firstOnly] }));
    for await (const { status } of health.watch({})) expect(status).toBe(ServingStatus.SERVING);
    await stopped.promise;
  });

  test('of a method that the server does not have fails as unimplemented', async () => {
    const health = createClient(Health, connect([await serveTags({})]));
    const reading = (async () => {
      for await (const _ of health.watch({}));
    })();
    expect(await findFailure(reading)).toMatchObject({ code: Code.Unimplemented });
  });

  test('in both directions delivers each response before the next request is sent', async () => {
    const reflection = createClient(ServerReflection, connect([await serve(reflectionRoutes([TagService]))]));
    let responses = 0;
    async function* requests() {
      for (const host of ['a', 'b', 'c']) {
        const before = responses;
        yield { host, messageRequest: { case: 'listServices' as const, value: '' } };
        await expect.poll(() => responses, pollOptions).toBe(before + 1);
      }
    }
    const hosts: string[] = [];
    for await (const response of reflection.serverReflectionInfo(requests())) {
      hosts.push(response.validHost);
      responses += 1;
    }
    expect(hosts).toEqual(['a', 'b', 'c']);
  });

  test('fails with the error that its requests fail with', async () => {
    const reflection = createClient(ServerReflection, connect([await serve(reflectionRoutes([TagService]))]));
    const responded = Promise.withResolvers<void>();
    async function* requests() {
      yield { messageRequest: { case: 'listServices' as const, value: '' } };
      await responded.promise;
      throw new ConnectError('no more requests', Code.DataLoss);
    }
    const reading = (async () => {
      for await (const _ of reflection.serverReflectionInfo(requests())) responded.resolve();
    })();
    expect(await findFailure(reading)).toMatchObject({ code: Code.DataLoss });
  });
});

// Source: docs/operations/scaling.md, Connections.
test('a server that vanishes without closing its connections is noticed without a call', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = createServer();
  const sockets = findSockets(server);
  let pings = 0;
  server.on('session', (session: ServerHttp2Session) => session.on('ping', () => pings++));
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    // An empty message.
    stream.resume().end(Buffer.alloc(5));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const forwarder = await openForwarder({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  onTestFinished(async () => {
    await forwarder.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const tags = createClient(TagService, connect([{ address: `127.0.0.1:${forwarder.port}` }]));
  await tags.getTag({ id: 1 });
  vi.advanceTimersByTime(10_000);
  await expect.poll(() => pings).toBe(1);
  await tags.getTag({ id: 1 });
  expect(sockets.size).toBe(1);
  forwarder.freeze();
  vi.advanceTimersByTime(10_000);
  vi.advanceTimersByTime(5_000);
  forwarder.thaw();
  await tags.getTag({ id: 1 });
  expect(sockets.size).toBe(2);
});

describe('several servers', () => {
  test('get the same number of calls', async () => {
    const counts = new Map<string, number>();
    const counting = (name: string) =>
      serveTags({
        listTags() {
          counts.set(name, (counts.get(name) ?? 0) + 1);
          return {};
        },
      });
    const tags = createClient(TagService, connect([await counting('a'), await counting('b')]));
    await expect.poll(() => tags.listTags({}).then(() => counts.size), pollOptions).toBe(2);
    counts.clear();
    for (let call = 0; call < 40; call += 1) await tags.listTags({});
    expect(Object.fromEntries(counts)).toEqual({ a: 20, b: 20 });
  });
});
