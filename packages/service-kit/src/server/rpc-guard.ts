import type { ServerHttp2Stream } from 'node:http2';
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { type ContextValues, createContextKey, createContextValues } from '@connectrpc/connect';
import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import { toDomainError } from '@ticketing/errors/translate-error.ts';
import { readMaxBodyBytes } from '@ticketing/rest/codec/options.ts';
import { bodyTooLarge } from '@ticketing/rest/limits/body-headers.ts';
import { parseJson } from '@ticketing/rest/limits/parse-json.ts';
import { limitWireStructure } from '@ticketing/rest/limits/wire-structure-limit.ts';
import { eventLoopTurns } from '@ticketing/runtime/event-loop-turns.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator } from '../admission/authenticator.ts';
import type { CallerLimits } from '../admission/caller-limits.ts';
import type { ServerLimits } from '../config/server-limits.ts';
import { checkAccess } from '../identity/access.ts';
import type { Caller } from '../identity/caller.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { LogRefusal } from '../observability/refusal-log.ts';
import { endStream } from './http2-sessions.ts';
import { anonymousLimit } from './limit-anonymous.ts';
import { onClosed } from './on-closed.ts';
import { findTrace } from './rest-call.ts';
import { sendRpcError } from './send-rpc-error.ts';

/** The contracts, limits and parts by which the guard decides. */
export interface RpcGuardOptions {
  /** The contracts that the server serves, those of gRPC itself included. */
  contracts: readonly DescService[];
  authenticator: Authenticator;
  callerLimits: CallerLimits;
  limits: ServerLimits;
  metrics: Metrics;
  refused: LogRefusal;
}

/** A call that the guard has admitted. */
export interface Admitted {
  caller: Caller;
  /** Counts the call as several against the rate limit of its caller. */
  countAs(requests: number): void;
  /** Calls a function when the response has ended, or its connection. */
  onEnd(done: () => void): void;
  /** Ends the response and its connection, or its stream. */
  endResponse(): void;
}

/**
 * How many RPCs are admitted in a turn of the event loop. The work that comes with one takes about a quarter of a
 * millisecond, and a client can open hundreds of streams at once.
 */
const admissionsPerTurn = 4;
const admittedKey = createContextKey<Admitted | undefined>(undefined, { description: 'the call that was admitted' });

/** Returns the admitted call. Errors: an internal error for a call that the guard has not seen. */
export function admitted(values: ContextValues): Admitted {
  const found = values.get(admittedKey);
  if (!found) throw new Error('the call was not admitted');
  return found;
}

/** Whether a contract is one of gRPC itself, which needs no credential: health and reflection. */
export function isStandardService({ typeName }: DescService): boolean {
  return typeName.startsWith('grpc.');
}

/**
 * Admits RPCs before their bodies are read, on a server of any protocol: the interceptors of Connect run only after the
 * message has been parsed. The method is the one that the router has matched, so that the spelling of the path does not
 * matter. Callers with an access token of the issuer have rate and in-flight limits; callers with internal tokens were
 * limited by the service that received their request.
 *
 * Returns the option `contextValues` of Connect, by which `admitted` finds the call.
 * Shape: a refusal is written as the protocol of the request demands, and ends the request without reading the rest.
 */
export function guardRpcs(app: FastifyInstance, options: RpcGuardOptions): (request: FastifyRequest) => ContextValues {
  const { authenticator, callerLimits, limits, metrics, refused } = options;
  const methods = methodsByPath(options.contracts);
  const calls = new WeakMap<FastifyRequest, Admitted>();
  const callers = new WeakMap<FastifyRequest, Caller>();
  const countAnonymous = anonymousLimit(limits.anonymousCalls);
  const turns = eventLoopTurns(admissionsPerTurn);

  function admitAnonymous(method: DescMethod, { raw, ip }: FastifyRequest, reply: FastifyReply): void {
    countAnonymous(ip, method.toString(), reply);
    if (method.methodKind !== 'bidi_streaming') return;
    const timer = setTimeout(() => endStream(raw), limits.bodyMs);
    onClosed(reply, () => clearTimeout(timer));
  }

  async function admit(method: DescMethod, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (isStandardService(method.parent)) return admitAnonymous(method, request, reply);
    const { caller, isInternal } = await authenticator.rpc(request);
    callers.set(request, caller);
    const setHeader = (name: string, value: number) => void reply.header(name, value);
    if (!isInternal) onClosed(reply, callerLimits.begin(caller, setHeader));
    checkAccess(method, caller);
    checkUrlMessage(request, method);
    requireBodyFits(request, method);
    calls.set(request, {
      caller,
      countAs: (requests) => {
        if (!isInternal) callerLimits.countMore(caller, requests - 1, setHeader);
      },
      onEnd: (done) => onClosed(reply, done),
      endResponse: () => void reply.raw.destroy(),
    });
  }

  app.addHook('onRequest', async (request, reply) => {
    const method = methods.get(request.routeOptions.url ?? '');
    if (!method) return undefined;
    await turns.wait(findConnection(request));
    try {
      await admit(method, request, reply);
      return undefined;
    } catch (thrown) {
      const error = toDomainError(thrown);
      const seconds = reply.elapsedTime / 1000;
      metrics.observeRequest({ api: 'rpc', route: method.toString(), status: error.code, seconds });
      refused(error, {
        route: method.toString(),
        address: request.ip,
        caller: callers.get(request),
        traceId: findTrace(request).traceId,
      });
      return sendRpcError(error, request, reply);
    }
  });
  return (request) => createContextValues().set(admittedKey, calls.get(request));
}

function findConnection({ raw }: FastifyRequest): object {
  return 'stream' in raw ? ((raw.stream as ServerHttp2Stream).session ?? raw) : raw.socket;
}

function methodsByPath(contracts: readonly DescService[]): Map<string, DescMethod> {
  return new Map(
    contracts.flatMap(({ typeName, methods }) =>
      methods.map((method): [string, DescMethod] => [`/${typeName}/${method.name}`, method]),
    ),
  );
}

/**
 * Checks the message in the URL of a GET like a message in a body. The limit of the headers bounds its length; a
 * compressed one could become a large message.
 */
function checkUrlMessage({ method: verb, url }: FastifyRequest, method: DescMethod): void {
  if (verb !== 'GET') return;
  const query = url.slice(url.indexOf('?') + 1);
  if (!isUtf8Query(query)) throw malformedUrl('The query is not UTF-8.');
  const parameters = new URLSearchParams(query);
  const read = (name: string) => {
    const values = parameters.getAll(name);
    if (values.length > 1) throw malformedUrl(`The parameter ${name} occurs more than once.`);
    return values[0] ?? '';
  };
  if (!['', 'identity'].includes(read('compression'))) {
    throw new DomainError('unimplemented', 'unsupported_compression', 'A message in a URL may not be compressed.');
  }
  const isBase64 = read('base64') === '1';
  const text = read('message');
  if (isBase64 && !isBase64Text(text)) throw malformedUrl('The message is not base64.');
  const message = Buffer.from(text, isBase64 ? 'base64url' : 'utf8');
  if (read('encoding') === 'json') {
    const { violations } = parseJson(message);
    if (violations.length > 0) throw invalidInput(violations);
  } else {
    limitWireStructure(message, method.input);
  }
}

/** Whether the escapes of a query are UTF-8. Otherwise `URLSearchParams` would put other characters in their place. */
function isUtf8Query(query: string): boolean {
  try {
    decodeURIComponent(query);
    return true;
  } catch {
    return false;
  }
}

function isBase64Text(text: string): boolean {
  const digits = /^([\w+/-]*)={0,2}$/.exec(text)?.[1];
  // Four digits are three bytes; a single one left over is none.
  return digits !== undefined && digits.length % 4 !== 1;
}

function malformedUrl(detail: string): DomainError {
  return new DomainError('invalid_argument', 'malformed_message', detail);
}

/** Refuses a body that announces more than its method accepts. The prefix of its message is not counted. */
function requireBodyFits({ headers }: FastifyRequest, method: DescMethod): void {
  const maxBytes = readMaxBodyBytes(method);
  if (Number(headers['content-length'] ?? 0) > maxBytes + envelopeBytes) throw bodyTooLarge(maxBytes);
}

const envelopeBytes = 5;
