import type { Message } from '@bufbuild/protobuf';
import { isEventStream } from '@ticketing/rest/codec/options.ts';
import type { ServiceImplementation } from '@ticketing/rest/routes/rest-api.ts';
import { tooManyAtOnce } from '../admission/caller-limits.ts';
import { concurrencyLimiter } from '../admission/concurrency-limiter.ts';
import type { Call } from '../call/call.ts';
import type { ServerLimits } from '../config/server-limits.ts';
import { callerKey, isHuman } from '../identity/caller.ts';

/**
 * Limits how many handlers of one caller run at the same time, those of streams too: a stream runs until it has been
 * read. A handler goes on when its client has gone, so that the limit of requests in flight alone would not bound them.
 * Functions that are passed to `onEnd` are called when the handler has ended too.
 *
 * Errors: too_many_at_once.
 */
export function limitHandlers(
  implementations: readonly ServiceImplementation<Call>[],
  limits: Pick<ServerLimits, 'handlersOfPerson' | 'handlersOfMachine'>,
): ServiceImplementation<Call>[] {
  const running = concurrencyLimiter();
  const begin = (call: Call): { tracked: Call; end(): void } => {
    const { caller } = call;
    const release = running.acquire(
      callerKey(caller),
      isHuman(caller) ? limits.handlersOfPerson : limits.handlersOfMachine,
    );
    if (!release) throw tooManyAtOnce('This caller has too many requests in flight.');
    const { tracked, settle } = track(call);
    const end = () => {
      release();
      settle();
    };
    return { tracked, end };
  };
  const limited = (handler: Handler): Handler =>
    async function handle(call, request) {
      const { tracked, end } = begin(call);
      try {
        return await handler(tracked, request);
      } finally {
        end();
      }
    };
  const limitedStream = (stream: Stream): Stream =>
    async function* handle(call, request) {
      const { tracked, end } = begin(call);
      try {
        yield* stream(tracked, request);
      } finally {
        end();
      }
    };
  return implementations.map(({ service, handlers, streams }) => ({
    service,
    handlers: new Map([...handlers].map(([method, handler]) => [method, limited(handler)])),
    streams: new Map(
      // Streams without an end have a separate limit.
      [...streams].map(([method, stream]) => [method, isEventStream(method) ? stream : limitedStream(stream)]),
    ),
  }));
}

type Handler = (call: Call, request: Message) => Promise<Message>;
type Stream = (call: Call, request: Message) => AsyncIterable<Message>;

/** Returns a call whose `onEnd` also waits for the handler to end, which `settle` reports. */
function track(call: Call): { tracked: Call; settle(): void } {
  let isSettled = false;
  const waiting: (() => void)[] = [];
  const onEnd = (done: () => void) =>
    call.onEnd(() => {
      if (isSettled) done();
      else waiting.push(done);
    });
  return {
    tracked: Object.create(call, { onEnd: { value: onEnd } }) as Call,
    settle() {
      isSettled = true;
      for (const done of waiting.splice(0)) done();
    },
  };
}
