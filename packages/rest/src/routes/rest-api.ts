import { METHODS } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { DescMessage, DescMethod, DescService, Message, MessageShape } from '@bufbuild/protobuf';
import type { HttpBody } from '@ticketing/contracts/ticketing/api/v1/http_body_pb.ts';
import type { RestRule } from '@ticketing/contracts/ticketing/api/v1/options_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { toDomainError, translateUpstreamErrors } from '@ticketing/errors/translate-error.ts';
import { ByteCollector, collectStream } from '@ticketing/runtime/byte-collector.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { flagsThatShow, messageEncoder } from '../codec/encode.ts';
import { defaultMaxBodyBytes, fieldNamed, isEventStream, readMaxBodyBytes, readRestRule } from '../codec/options.ts';
import { requireBodyFits, requirePlainBody, toBodyError } from '../limits/body-headers.ts';
import type { LargeJson } from '../limits/large-json.ts';
import { isLarge, type WriteJson, writeInPieces } from '../limits/large-response.ts';
import type { ParsedJson } from '../limits/parse-json.ts';
import { eventStream, eventStreamMediaType, eventWriter } from './event-stream.ts';
import { chooseAccepted, responseMediaTypes } from './media-types.ts';
import { type ProblemContext, replyWithProblems, routeNotFound } from './problem-reply.ts';
import { type InappropriateParameters, type RequestReader, requestReader, toBinding } from './request-reader.ts';

/**
 * The handlers of a service's methods, for the REST API and the RPC API: `(context, call, request) → response`. The
 * handler of a streaming method returns the messages of the response one after the other.
 */
export type Handlers<Service extends DescService, Context, Call> = {
  [Name in keyof Service['method']]?: (
    context: Context,
    call: Call,
    request: MessageShape<Service['method'][Name]['input']>,
  ) => Service['method'][Name]['methodKind'] extends 'server_streaming'
    ? AsyncIterable<MessageShape<Service['method'][Name]['output']>>
    : Promise<MessageShape<Service['method'][Name]['output']>>;
};

/** A service and its handlers, without the static types of its messages. */
export interface ServiceImplementation<Call> {
  service: DescService;
  handlers: ReadonlyMap<DescMethod, (call: Call, request: Message) => Promise<Message>>;
  /** The handlers of streaming methods. */
  streams: ReadonlyMap<DescMethod, (call: Call, request: Message) => AsyncIterable<Message>>;
}

/** The handlers of a service's methods whose context is bound: `(call, request) → response`. */
export type BoundHandlers<Service extends DescService, Call> = {
  [Name in keyof Service['method']]?: (
    call: Call,
    request: MessageShape<Service['method'][Name]['input']>,
  ) => Service['method'][Name]['methodKind'] extends 'server_streaming'
    ? AsyncIterable<MessageShape<Service['method'][Name]['output']>>
    : Promise<MessageShape<Service['method'][Name]['output']>>;
};

// biome-ignore lint/suspicious/noExplicitAny: the parameters of handlers differ
type AnyHandler<Context> = (context: Context, ...rest: any[]) => unknown;

type Bound<Handler> = Handler extends (context: never, ...rest: infer Rest) => infer Result
  ? (...rest: Rest) => Result
  : never;

/** Binds functions to a context, which each of them takes first. */
export function bind<Context, Functions extends Record<string, AnyHandler<Context>>>(
  context: Context,
  functions: Functions,
): { [Name in keyof Functions]: Bound<Functions[Name]> } {
  const bound = Object.entries(functions).map(([name, one]) => [name, (...rest: unknown[]) => one(context, ...rest)]);
  return Object.fromEntries(bound) as { [Name in keyof Functions]: Bound<Functions[Name]> };
}

/**
 * Makes the implementation of a service of its handlers: bound ones, which may have different contexts, or others that
 * all get the same context. A method without a handler is not served.
 */
export function implement<Service extends DescService, Call>(
  service: Service,
  handlers: BoundHandlers<Service, Call>,
): ServiceImplementation<Call>;
export function implement<Service extends DescService, Context, Call>(
  service: Service,
  context: Context,
  handlers: Handlers<Service, Context, Call>,
): ServiceImplementation<Call>;
export function implement<Call>(
  service: DescService,
  ...given: [context: unknown, handlers: object] | [handlers: object]
): ServiceImplementation<Call> {
  type Handler = (call: Call, request: Message) => never;
  const handlers = given.length === 2 ? bind(given[0], given[1] as Record<string, AnyHandler<unknown>>) : given[0];
  const named = handlers as Record<string, Handler | undefined>;
  const served = new Map<DescMethod, Handler>();
  const streams = new Map<DescMethod, Handler>();
  for (const method of service.methods) {
    const handler = named[method.localName];
    if (handler) (method.methodKind === 'server_streaming' ? streams : served).set(method, handler);
  }
  return { service, handlers: served, streams };
}

/** The functions of the server that the REST API needs. */
export interface RestApiOptions<Call> extends ProblemContext {
  services: readonly ServiceImplementation<Call>[];
  /**
   * Authorises a request before its body is read, and returns the call that the handler receives. Throws to refuse the
   * request.
   */
  begin(method: DescMethod, request: FastifyRequest, reply: FastifyReply): Promise<Call>;
  /** Reads and writes the bodies. */
  json: LargeJson;
  /** Names the caller of a call: callers whose large bodies wait are served in turn. */
  nameCaller(call: Call): string;
  /** Called when the response of a call has been encoded, unless it is a stream. */
  onEncoded?(call: Call): void;
}

/**
 * Registers the REST routes of services on a Fastify scope, from their contracts.
 *
 * A known path with another verb returns 405 with `Allow`; every error is a problem document. Where methods share a verb
 * and a path, the media types that the request accepts decide between them, before it is authorised.
 * Source: docs/reference/api.md, Values; docs/reference/api.md, Errors.
 */
export async function registerRestApi<Call>(app: FastifyInstance, options: RestApiOptions<Call>): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', collectBody);
  replyWithProblems(app, options);
  // The handler of unknown paths would run after the body was read.
  app.addHook('onRequest', async (request) => {
    if (request.is404) throw routeNotFound();
  });
  const routes = new Map<string, Route<Call>[]>();
  for (const { service, handlers, streams } of options.services) {
    const findMessage = messageFinder(service);
    const register = (method: DescMethod, responderOf: (rule: RestRule) => Responder<Call>) => {
      const rule = readRestRule(method);
      if (!rule) return;
      const url = fastifyPath(method, rule);
      const key = `${rule.method} ${url}`;
      const route = { method, rule, url, respond: responderOf(rule), findMessage };
      routes.set(key, [...(routes.get(key) ?? []), route]);
    };
    for (const [method, handler] of handlers)
      register(method, (rule) => messageResponder(method, rule, handler, options));
    for (const [method, handler] of streams)
      register(method, (rule) =>
        isEventStream(method)
          ? eventResponder(method, rule, handler, options)
          : streamResponder(rule, handler, options),
      );
  }
  for (const alternatives of routes.values()) registerRoute(app, options, alternatives);
  const firsts = [...routes.values()].flatMap(([first]) => first ?? []);
  for (const [url, ofPath] of Map.groupBy(firsts, (route) => route.url)) {
    rejectOtherMethods(
      app,
      url,
      ofPath.map(({ rule }) => rule.method),
    );
  }
}

/** Receives a body whole. Errors: body_too_large, too_many_pieces; those of the stream. */
async function collectBody({ routeOptions }: FastifyRequest, body: NodeJS.ReadableStream): Promise<Buffer> {
  const maxBytes = routeOptions.bodyLimit ?? defaultMaxBodyBytes;
  try {
    return await collectStream(body, new ByteCollector({ maxBytes }));
  } catch (error) {
    throw toBodyError(error, maxBytes);
  }
}

interface Route<Call> {
  method: DescMethod;
  rule: RestRule;
  url: string;
  respond: Responder<Call>;
  findMessage: (typeName: string) => DescMessage | undefined;
}

/** Calls the handler with a request that has been decoded, and writes its response. */
type Responder<Call> = (call: Call, request: Message, reply: FastifyReply) => Promise<FastifyReply>;

/** Registers the methods that share a verb and a path. */
function registerRoute<Call>(
  app: FastifyInstance,
  options: RestApiOptions<Call>,
  alternatives: readonly Route<Call>[],
): void {
  const served = alternatives.map((route) => ({
    ...route,
    mediaTypes: responseMediaTypes(route.rule),
    reader: requestReader(
      route.method,
      toBinding(route.method, route.rule),
      route.findMessage,
      inappropriateParameters(route, alternatives),
    ),
  }));
  const [first] = served;
  if (!first) return;
  const calls = new WeakMap<FastifyRequest, { call: Call; chosen: typeof first }>();
  app.route({
    method: first.rule.method as HTTPMethods,
    url: first.url,
    bodyLimit: Math.max(...served.map(({ method }) => readMaxBodyBytes(method))),
    onRequest: (request, reply) =>
      translateErrors(async () => {
        if (served.length > 1) reply.header('vary', 'accept');
        const chosen = served.length > 1 ? chooseAccepted(served, request.headers.accept) : first;
        const call = await options.begin(chosen.method, request, reply);
        requirePlainBody(request.headers);
        requireBodyFits(request.headers, readMaxBodyBytes(chosen.method));
        calls.set(request, { call, chosen });
      }),
    handler: (request, reply) =>
      translateErrors(async () => {
        const authorised = calls.get(request);
        if (authorised === undefined) throw new Error(`${first.url} was not authorised`);
        const { call, chosen } = authorised;
        const { reader, respond } = chosen;
        const message = await readMessage(request, reader, (body) =>
          options.json.parse(options.nameCaller(call), body),
        );
        return await respond(call, message, reply).catch((error) => {
          throw withRequestPointers(error, reader.toPointer);
        });
      }),
  });
}

/** Returns the parameters of the other methods that share a verb and a path with a method. */
function inappropriateParameters<Call>(
  { method, rule }: Route<Call>,
  alternatives: readonly Route<Call>[],
): InappropriateParameters {
  const readNames = (route: Pick<Route<Call>, 'method' | 'rule'>) =>
    toBinding(route.method, route.rule).query.map(({ jsonName }) => jsonName);
  const own = readNames({ method, rule });
  const names = new Set(alternatives.flatMap(readNames).filter((name) => !own.includes(name)));
  return {
    names,
    detail: `is not a field of this request with the media type ${responseMediaTypes(rule).join(' or ')}`,
  };
}

/** Translates the pointers of an error: a handler points into the message, a client needs the place in its request. */
function withRequestPointers(error: unknown, toPointer: (pointer: string) => string): unknown {
  if (!(error instanceof DomainError) || error.violations.length === 0) return error;
  const [first] = error.violations;
  const violations = error.violations.map((violation) => ({ ...violation, pointer: toPointer(violation.pointer) }));
  const detail = first ? error.message.replace(first.pointer, () => toPointer(first.pointer)) : error.message;
  return new DomainError(error.code, error.reason, detail, { violations, cause: error.cause });
}

/** A body of this size or more is parsed, decoded and handled in separate turns, so that others come in between. */
const pauseBytes = 64 * 1024;

async function readMessage(
  request: FastifyRequest,
  { hasBody, read }: RequestReader,
  parse: (body: Buffer) => ParsedJson | Promise<ParsedJson>,
): Promise<Message> {
  const queryStart = request.url.indexOf('?');
  const query = queryStart < 0 ? '' : request.url.slice(queryStart + 1);
  const path = request.params as Record<string, string>;
  const body = hasBody && Buffer.isBuffer(request.body) ? request.body : undefined;
  if (!body || body.length === 0) return read({ body: undefined, query, path });
  const isPaused = body.length >= pauseBytes;
  const parsed = parse(body);
  const whole = parsed instanceof Promise ? await parsed : parsed;
  if (isPaused) await nextTurn();
  const message = read({ body: whole, query, path });
  if (isPaused) await nextTurn();
  return message;
}

/** Waits until the event loop has looked for other work: the first `setImmediate` may run before it does. */
async function nextTurn(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

/** Translates every error to a domain error, because Fastify would use the `statusCode` of an error that has one. */
async function translateErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw toDomainError(error);
  }
}

function messageResponder<Call>(
  method: DescMethod,
  rule: RestRule,
  handler: (call: Call, request: Message) => Promise<Message>,
  { json, nameCaller, onEncoded }: RestApiOptions<Call>,
): Responder<Call> {
  const write = responseWriter(method, rule);
  return async (call, request, reply) => {
    const response = await translateUpstreamErrors(() => handler(call, request));
    const encoding = {
      write: (value: unknown) => json.write(nameCaller(call), value),
      onEncoded: () => onEncoded?.(call),
    };
    return write(response, request, reply, encoding);
  };
}

/** One message of a streamed response. */
type Part = Message & { body?: HttpBody };

/** An error before the first part becomes a problem document; a later error closes the connection. */
function streamResponder<Call>(
  { hasRanges }: RestRule,
  handler: (call: Call, request: Message) => AsyncIterable<Message>,
  { onServerError }: ProblemContext,
): Responder<Call> {
  return async (call, request, reply) => {
    const isHead = reply.request.method === 'HEAD';
    // HEAD needs no content, and producing the content is all the work unless its size is known.
    if (isHead && !hasRanges) return reply.code(200).header('cache-control', 'no-store').send();
    // Only GET has ranges (RFC 9110, 14.2).
    if (isHead) delete reply.request.headers.range;
    const failed = (error: unknown) => onServerError(toDomainError(error), 500, reply.request);
    const parts = (handler(call, request) as AsyncIterable<Part>)[Symbol.asyncIterator]();
    const first = await translateUpstreamErrors(() => parts.next());
    if (first.done || !first.value.body) throw new Error('the streamed response has no first part');
    const { contentType, status, headers, data } = first.value.body;
    reply.code(status || 200).headers({ ...headers, 'content-type': contentType });
    if (!('cache-control' in headers)) reply.header('cache-control', 'no-store');
    if (isHead) {
      await parts.return?.();
      // Without a stream Fastify would set the length to 0.
      return reply.send(Readable.from([]));
    }
    const content = Readable.from(readContent(data, parts, failed), { objectMode: false });
    // Ends the handler even if the client has gone before anything was read.
    content.once('close', () => void parts.return?.().catch(failed));
    return reply.send(content);
  };
}

/** Like `streamResponder`, but each message is a server-sent event. The first message is sent at once. */
function eventResponder<Call>(
  method: DescMethod,
  rule: RestRule,
  handler: (call: Call, request: Message) => AsyncIterable<Message>,
  { onServerError }: ProblemContext,
): Responder<Call> {
  const write = eventWriter(method, rule);
  return async (call, request, reply) => {
    // Proxies must not hold events back; nginx does unless this header forbids it.
    const headers = { 'content-type': eventStreamMediaType, 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
    if (reply.request.method === 'HEAD') return reply.code(200).headers(headers).send();
    const failed = (error: unknown) => onServerError(toDomainError(error), 500, reply.request);
    const events = handler(call, request)[Symbol.asyncIterator]();
    const first = await translateUpstreamErrors(() => events.next());
    if (first.done) throw new Error(`${method.toString()} has no first message`);
    return reply
      .code(200)
      .headers(headers)
      .send(eventStream(first.value, events, write, failed));
  };
}

async function* readContent(
  first: Uint8Array,
  rest: AsyncIterator<Part>,
  failed: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    if (first.length > 0) yield first;
    for (let next = await rest.next(); !next.done; next = await rest.next())
      if (next.value.body) yield next.value.body.data;
  } catch (error) {
    failed(error);
    throw error;
  }
}

/** How a response is encoded. */
interface Encoding {
  write: WriteJson;
  /** Called when all of it has been encoded. */
  onEncoded(): void;
}

type WriteResponse = (
  response: Message,
  request: Message,
  reply: FastifyReply,
  encoding: Encoding,
) => Promise<FastifyReply>;

function responseWriter(method: DescMethod, rule: RestRule): WriteResponse {
  const flags = flagsThatShow(method.output);
  const flag = method.input.fields.find((field) => flags.has(field.name));
  const encodePlain = messageEncoder(method.output);
  const encodeShown = messageEncoder(method.output, flag?.name);
  const bodyField = rule.responseBody === '' ? undefined : fieldNamed(method.output, rule.responseBody);
  const etag = rule.etag === '' ? undefined : localNameAt(method.output, rule.etag.split('.'));
  return async (response, request, reply, { write, onEncoded }) => {
    const isShown = flag !== undefined && valueAt(request, [flag.localName]) === true;
    const isInPieces = isLarge(response) && !bodyField;
    // Before the headers: an error of the encoder must not leave them to the problem document.
    const json = isInPieces ? undefined : isShown ? encodeShown(response) : encodePlain(response);
    const version = etag && valueAt(response, etag);
    if (version !== undefined) reply.header('etag', `"${String(version)}"`);
    reply
      .code(rule.status || 200)
      .header('content-type', 'application/json; charset=utf-8')
      .header('cache-control', 'no-store');
    if (json) {
      const written = write(bodyField ? json[bodyField.jsonName] : json);
      reply.send(written instanceof Promise ? await written : written);
      onEncoded();
      return reply;
    }
    const pieces = writeInPieces(method.output, response, isShown ? flag.name : undefined, write);
    return reply.send(encodedAhead(pieces, onEncoded));
  };
}

/** How many bytes of a response are encoded before its client has read them. */
const maxEncodedAhead = 32 * 1024 * 1024;

/**
 * Encodes a response without waiting for its client, up to a limit: the message that it is made from needs several times
 * the memory of its JSON.
 */
function encodedAhead(pieces: AsyncIterable<Buffer>, onEncoded: () => void): Readable {
  async function* untilEncoded() {
    yield* pieces;
    onEncoded();
  }
  return Readable.from(untilEncoded(), { objectMode: false, highWaterMark: maxEncodedAhead });
}

/** Returns the property names along a path of contract names. Errors: an Error if the contract has no such field. */
function localNameAt(message: DescMessage, [name, ...rest]: readonly string[]): string[] {
  const field = message.fields.find((candidate) => candidate.name === name);
  if (!field) throw new Error(`${message.typeName} has no field ${name}`);
  return [field.localName, ...(rest.length > 0 && field.message ? localNameAt(field.message, rest) : [])];
}

function valueAt(message: Message, path: readonly string[]): unknown {
  let value: unknown = message;
  for (const name of path) value = (value as Record<string, unknown> | undefined)?.[name];
  return value;
}

function fastifyPath(method: DescMethod, rule: RestRule): string {
  return rule.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const field = method.input.fields.find((candidate) => candidate.name === name);
    if (!field) throw new Error(`${method.toString()}: the path names the unknown field ${name}`);
    return `:${field.jsonName}`;
  });
}

/** Responds with 405 and `Allow` to every method that Node can parse and that the path does not have. */
export function rejectOtherMethods(app: FastifyInstance, url: string, served: readonly string[]): void {
  // Fastify adds HEAD to every GET route.
  const allowed = served.includes('GET') ? ['GET', 'HEAD', ...served.filter((verb) => verb !== 'GET')] : served;
  app.route({
    method: routedMethods(app).filter((method) => !allowed.includes(method)),
    url,
    exposeHeadRoute: false,
    onRequest: async (_request, reply) => {
      reply.header('allow', allowed.join(', '));
      throw new DomainError('unimplemented', 'method_not_allowed', `This path accepts ${allowed.join(', ')}.`);
    },
    handler: () => undefined,
  });
}

/** Lets Fastify route every method that Node can parse, not only the usual ones, and lists them. */
export function routedMethods(app: FastifyInstance): HTTPMethods[] {
  for (const method of METHODS) {
    // Fastify responds with 400 to a QUERY without a media type, even on an unknown path, unless QUERY has no body.
    const isOverridden = method === 'QUERY';
    if (isOverridden || !app.supportedMethods.includes(method)) app.addHttpMethod(method, { overrideExisting: true });
  }
  return [...METHODS];
}

/** Finds messages by full name in the file of a service and in all files that it imports. */
export function messageFinder(service: DescService): (typeName: string) => DescMessage | undefined {
  const messages = new Map<string, DescMessage>();
  const files = [service.file];
  for (const file of files) {
    for (const message of file.messages) messages.set(message.typeName, message);
    for (const dependency of file.dependencies) if (!files.includes(dependency)) files.push(dependency);
  }
  return (typeName) => messages.get(typeName);
}
