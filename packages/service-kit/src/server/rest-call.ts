import type { Logger } from '@ticketing/runtime/logger.ts';
import { continueTrace, type Trace } from '@ticketing/runtime/trace.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Call, callDeadlineMs, clientGone, deadlineExceeded } from '../call/call.ts';
import type { Caller } from '../identity/caller.ts';
import { onClosed } from './on-closed.ts';

const traces = new WeakMap<FastifyRequest, Trace>();

/** Returns the trace that a REST request belongs to. */
export function findTrace(request: FastifyRequest): Trace {
  const trace = traces.get(request) ?? continueTrace(readHeader(request, 'traceparent'));
  traces.set(request, trace);
  return trace;
}

/** The header of a response that says as how many requests the gateway counts its request. */
export const costHeader = 'ratelimit-cost';

/** The call of a REST request. */
export interface RestCall extends Call {
  /** Says that the response has been encoded. */
  encoded(): void;
}

/** Makes the call of a REST request whose caller was verified. */
export function restCall(request: FastifyRequest, reply: FastifyReply, log: Logger, caller: Caller): RestCall {
  const trace = findTrace(request);
  const whenEncoded: (() => void)[] = [];
  let signal: AbortSignal | undefined;
  let gone: AbortSignal | undefined;
  return {
    caller,
    api: 'rest',
    trace,
    header: (name) => readHeader(request, name),
    setResponseHeader: (name, value) => void reply.header(name, value),
    countAs: (requests) => void reply.header(costHeader, requests),
    onEncoded: (done) => void whenEncoded.push(done),
    encoded() {
      for (const done of whenEncoded.splice(0)) done();
    },
    onEnd: (done) => onClosed(reply, done),
    endResponse: () => void reply.raw.destroy(),
    get log() {
      return log.child({ traceId: trace.traceId });
    },
    get signal() {
      signal ??= openSignal(reply);
      return signal;
    },
    get gone() {
      gone ??= openGoneSignal(reply);
      return gone;
    },
  };
}

/** Made when it is first read, because most handlers do not read it. It is aborted at once if the client has gone. */
function openSignal(reply: FastifyReply): AbortSignal {
  const aborting = new AbortController();
  const timer = setTimeout(() => aborting.abort(deadlineExceeded()), callDeadlineMs);
  onClosed(reply, () => {
    clearTimeout(timer);
    aborting.abort(clientGone());
  });
  return aborting.signal;
}

function openGoneSignal(reply: FastifyReply): AbortSignal {
  const aborting = new AbortController();
  onClosed(reply, () => aborting.abort(clientGone()));
  return aborting.signal;
}

function readHeader(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
