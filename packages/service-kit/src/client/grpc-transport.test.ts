import { once } from 'node:events';
import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { create } from '@bufbuild/protobuf';
import {
  type Client,
  Code,
  ConnectError,
  type ConnectRouter,
  createClient,
  encodeBinaryHeader,
  type HandlerContext,
  type Interceptor,
  type ServiceImpl,
} from '@connectrpc/connect';
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify';
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '@ticketing/contracts/grpc/health/v1/health_pb.ts';
import { ServerReflection } from '@ticketing/contracts/grpc/reflection/v1/reflection_pb.ts';
import { ProblemSchema } from '@ticketing/contracts/ticketing/api/v1/problem_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import fastify from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { healthRoutes } from '../server/grpc-health.ts';
import { reflectionRoutes } from '../server/grpc-reflection.ts';
import { createGrpcTransport, type GrpcTransportOptions } from './grpc-transport.ts';

const patient = { interval: 2, timeout: 10_000 };
type TagStub = Partial<ServiceImpl<typeof TagService>>;

/** The connections of a server, which break without a word when it is killed. */
function socketsOf(server: Http2Server): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  return sockets;
}

async function serve(routes: (router: ConnectRouter) => void) {
  const server = fastify({ http2: true });
  const sockets = socketsOf(server.server);
  await server.register(fastifyConnectPlugin, { routes, connect: false, grpcWeb: false, shutdownTimeoutMs: 50 });
  await server.listen({ host: '127.0.0.1', port: 0 });

  async function kill() {
    for (const socket of sockets) socket.destroy();
    await server.close();
  }
  onTestFinished(kill);
  const { port } = server.server.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, kill };
}

const serveTags = (stub: TagStub) => serve((router) => router.service(TagService, stub));

function connect(addresses: { address: string }[], options: Partial<GrpcTransportOptions> = {}) {
  const target = `ipv4:${addresses.map(({ address }) => address).join(',')}`;
  const transport = createGrpcTransport({
    target,
    defaultTimeoutMs: 5_000,
    services: [TagService, Health],
    ...options,
  });
  onTestFinished(() => transport.close());
  return transport;
}

const tagClient = async (stub: TagStub, options?: Partial<GrpcTransportOptions>) =>
  createClient(TagService, connect([await serveTags(stub)], options));

const failureOf = (promise: Promise<unknown>): Promise<ConnectError> =>
  promise.then(
    () => Promise.reject(new Error('the call did not fail')),
    (error: unknown) => ConnectError.from(error),
  );

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

describe('a unary call', () => {
  test('answers the message', async () => {
    const tags = await tagClient({ getTag: ({ id }) => ({ tag: { id, name: 'billing' } }) });
    expect(await tags.getTag({ id: 7 })).toMatchObject({ tag: { id: 7, name: 'billing' } });
  });

  test('carries headers there and headers and trailers back, binary ones too', async () => {
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

  test('fails with the code, text, details and metadata that the server gave', async () => {
    const problem = create(ProblemSchema, { reason: 'unknown_tag', errors: [{ pointer: '#/path/id' }] });
    const tags = await tagClient({
      getTag(_, context) {
        context.responseHeader.set('x-request-id', 'r1');
        throw new ConnectError('no tag “7”', Code.NotFound, { 'x-hint': 'list them' }, [
          { desc: ProblemSchema, value: problem },
        ]);
      },
    });
    const error = await failureOf(tags.getTag({ id: 7 }));
    expect(error).toMatchObject({ code: Code.NotFound, rawMessage: 'no tag “7”' });
    expect(error.findDetails(ProblemSchema)).toEqual([problem]);
    expect([error.metadata.get('x-hint'), error.metadata.get('x-request-id')]).toEqual(['list them', 'r1']);
  });

  test('passes through the interceptors', async () => {
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

  test('fails if the answer is larger than allowed', async () => {
    const tags = await tagClient({ getTag: () => ({ tag: { name: 'x'.repeat(2_000) } }) }, { readMaxBytes: 1_000 });
    expect(await failureOf(tags.getTag({ id: 1 }))).toMatchObject({ code: Code.ResourceExhausted });
  });

  test('is unavailable if no server can be reached', async () => {
    const server = await serveTags({});
    await server.kill();
    const tags = createClient(TagService, connect([server]));
    expect(await failureOf(tags.createTag({}))).toMatchObject({ code: Code.Unavailable });
  });

  test('fails once the transport is closed', async () => {
    const transport = connect([await serveTags({ createTag: () => ({ id: 1 }) })]);
    const tags = createClient(TagService, transport);
    expect(await tags.createTag({})).toMatchObject({ id: 1 });
    transport.close();
    await expect(tags.createTag({})).rejects.toThrow();
  });
});

describe('time and cancelling', () => {
  test('a deadline reaches the server and ends the call on both sides', async () => {
    const stopped = Promise.withResolvers<{ timeoutMs: number | undefined; reason: unknown }>();
    const tags = await tagClient({
      createTag: () => ({}),
      async getTag(_, { signal, timeoutMs }) {
        const left = timeoutMs();
        return untilAborted(signal).finally(() => stopped.resolve({ timeoutMs: left, reason: signal.reason }));
      },
    });
    // So that the deadline is not spent on connecting.
    await tags.createTag({});
    expect(await failureOf(tags.getTag({ id: 1 }, { timeoutMs: 250 }))).toMatchObject({ code: Code.DeadlineExceeded });
    const { timeoutMs, reason } = await stopped.promise;
    expect(timeoutMs).toSatisfy((left: number) => left > 0 && left <= 250);
    expect(reason).toBeDefined();
  });

  test('a call that names no deadline has the default one, and one that names 0 has none', async () => {
    const seen: (number | undefined)[] = [];
    const tags = await tagClient({
      getTag(_, { timeoutMs }) {
        seen.push(timeoutMs());
        return {};
      },
    });
    await tags.getTag({ id: 1 });
    await tags.getTag({ id: 1 }, { timeoutMs: 0 });
    expect(seen).toEqual([expect.toSatisfy((left: number) => left > 4_000 && left <= 5_000), undefined]);
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
    const failure = failureOf(tags.getTag({ id: 1 }, { signal: caller.signal }));
    await entered.promise;
    caller.abort();
    expect(await failure).toMatchObject({ code: Code.Canceled });
    await stopped.promise;
  });

  test('a signal that is aborted already sends nothing', async () => {
    let calls = 0;
    const tags = await tagClient({
      getTag() {
        calls += 1;
        return {};
      },
    });
    const failure = failureOf(tags.getTag({ id: 1 }, { signal: AbortSignal.abort() }));
    expect(await failure).toMatchObject({ code: Code.Canceled });
    await tags.getTag({ id: 1 });
    expect(calls).toBe(1);
  });
});

describe('a stream', () => {
  test('from the server brings each message, and an abort ends it', async () => {
    let ready = true;
    const listeners = new Set<() => void>();
    const readiness = {
      isReady: () => ready,
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
        ready = !ready;
        for (const listener of listeners) listener();
      }
    })();
    expect(await failureOf(reading)).toMatchObject({ code: Code.Canceled });
    expect(seen).toEqual([ServingStatus.SERVING, ServingStatus.NOT_SERVING, ServingStatus.SERVING]);
    await expect.poll(() => listeners.size, patient).toBe(0);
  });

  test('from the server that fails brings what came before, then the error with its details', async () => {
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
    const error = await failureOf(reading);
    expect(error).toMatchObject({ code: Code.Aborted, rawMessage: 'enough' });
    expect(error.findDetails(ProblemSchema)).toMatchObject([{ reason: 'enough' }]);
    expect(seen).toEqual([ServingStatus.SERVING]);
  });

  test('ends on both sides when an interceptor reads no further', async () => {
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

  test('that the server does not know fails as unimplemented', async () => {
    const health = createClient(Health, connect([await serveTags({})]));
    const reading = (async () => {
      for await (const _ of health.watch({}));
    })();
    expect(await failureOf(reading)).toMatchObject({ code: Code.Unimplemented });
  });

  test('in both directions answers each request before the next is sent', async () => {
    const reflection = createClient(ServerReflection, connect([await serve(reflectionRoutes([TagService]))]));
    let answered = 0;
    async function* questions() {
      for (const host of ['a', 'b', 'c']) {
        const expected = answered;
        yield { host, messageRequest: { case: 'listServices' as const, value: '' } };
        await expect.poll(() => answered, patient).toBe(expected + 1);
      }
    }
    const hosts: string[] = [];
    for await (const answer of reflection.serverReflectionInfo(questions())) {
      hosts.push(answer.validHost);
      answered += 1;
    }
    expect(hosts).toEqual(['a', 'b', 'c']);
  });

  test('whose requests fail fails with that error', async () => {
    const reflection = createClient(ServerReflection, connect([await serve(reflectionRoutes([TagService]))]));
    const answered = Promise.withResolvers<void>();
    async function* questions() {
      yield { messageRequest: { case: 'listServices' as const, value: '' } };
      await answered.promise;
      throw new ConnectError('no more questions', Code.DataLoss);
    }
    const reading = (async () => {
      for await (const _ of reflection.serverReflectionInfo(questions())) answered.resolve();
    })();
    expect(await failureOf(reading)).toMatchObject({ code: Code.DataLoss });
  });
});

describe('several servers', () => {
  test('get the same number of calls each', async () => {
    const counts = new Map<string, number>();
    const counting = (name: string) =>
      serveTags({
        listTags() {
          counts.set(name, (counts.get(name) ?? 0) + 1);
          return {};
        },
      });
    const tags = createClient(TagService, connect([await counting('a'), await counting('b')]));
    await expect.poll(() => tags.listTags({}).then(() => counts.size), patient).toBe(2);
    counts.clear();
    for (let call = 0; call < 40; call += 1) await tags.listTags({});
    expect(Object.fromEntries(counts)).toEqual({ a: 20, b: 20 });
  });

  interface Killable {
    address: string;
    kill(): Promise<void>;
  }

  /** A server that never answers. */
  const holding = (onHeld: () => void): Promise<Killable> => {
    const hold = (_: unknown, { signal }: HandlerContext) => {
      onHeld();
      return untilAborted(signal);
    };
    return serveTags({ getTag: hold, createTag: hold });
  };

  /** A server whose answers never get beyond the headers. */
  async function holdingAfterHeaders(onHeld: () => void): Promise<Killable> {
    const server = createServer();
    const sockets = socketsOf(server);
    server.on('stream', (stream) => {
      stream.on('error', () => {});
      stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' });
      // The answer to a ping comes after the client has read the headers.
      stream.session?.ping(onHeld);
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

  /** Makes calls to two servers until the first, which never answers, holds five of them; then kills it. */
  async function killWhile(
    serveHolding: (onHeld: () => void) => Promise<Killable>,
    call: (tags: Client<typeof TagService>) => Promise<unknown>,
  ) {
    let held = 0;
    let served = 0;
    const lost = await serveHolding(() => {
      held += 1;
    });
    const answer = () => {
      served += 1;
      return {};
    };
    const kept = await serveTags({ getTag: answer, createTag: answer });
    const tags = createClient(TagService, connect([lost, kept]));
    const outcomes: Promise<Code | 'answered'>[] = [];
    const enough = () => {
      const outcome = call(tags).then(
        () => 'answered' as const,
        (error: unknown) => ConnectError.from(error).code,
      );
      outcomes.push(outcome);
      return held >= 5;
    };
    await expect.poll(enough, patient).toBe(true);
    await lost.kill();
    return { outcomes: await Promise.all(outcomes), held, served };
  }

  test.each([
    ['before it answers', holding],
    ['after the headers of its answers', holdingAfterHeaders],
  ])('lose no call of a method without side effects when one is killed %s', async (_, serveHolding) => {
    const { outcomes, served } = await killWhile(serveHolding, (tags) => tags.getTag({ id: 2 }));
    expect(new Set(outcomes)).toEqual(new Set(['answered']));
    expect(served).toBe(outcomes.length);
  });

  test.each([
    ['before it answers', holding],
    ['after the headers of its answers', holdingAfterHeaders],
  ])('do not repeat a call that may have had an effect when one is killed %s', async (_, serveHolding) => {
    const { outcomes, held, served } = await killWhile(serveHolding, (tags) => tags.createTag({}));
    const lost = outcomes.filter((outcome) => outcome === Code.Unavailable).length;
    expect(lost).toBeGreaterThanOrEqual(held);
    expect(served + lost).toBe(outcomes.length);
  });

  test('are asked once more, not forever, after the answer that one is unavailable', async () => {
    let calls = 0;
    const refuse = () => {
      calls += 1;
      throw new ConnectError('not now', Code.Unavailable);
    };
    const tags = await tagClient({ getTag: refuse, createTag: refuse });
    expect(await failureOf(tags.getTag({ id: 1 }))).toMatchObject({ code: Code.Unavailable, rawMessage: 'not now' });
    expect(calls).toBe(2);
    expect(await failureOf(tags.createTag({}))).toMatchObject({ code: Code.Unavailable });
    expect(calls).toBe(3);
  });
});
