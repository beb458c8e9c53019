import { PassThrough, type Readable } from 'node:stream';
import { type FastifyHttpProxyOptions, fastifyHttpProxy } from '@fastify/http-proxy';
import type { DomainError } from '@ticketing/errors/domain-error.ts';
import { type ProblemContext, sendProblem } from '@ticketing/rest/routes/problem-reply.ts';
import { routedMethods } from '@ticketing/rest/routes/rest-api.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Sampler } from '@ticketing/runtime/trace.ts';
import type { InternalTokens } from '@ticketing/service-kit/identity/internal-token.ts';
import { onClosed } from '@ticketing/service-kit/server/on-closed.ts';
import { costHeader } from '@ticketing/service-kit/server/rest-call.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bodyWithinLimit, requireAcceptableBody } from '../admission/body-limit.ts';
import type { ClientAddress } from '../request/client-address.ts';
import { findRequestContext, requireAdmission } from '../request/context.ts';
import { requestHeaders, responseHeaders } from './forwarded-headers.ts';
import type { UpstreamAgent } from './upstream-agent.ts';
import { deadlineExceeded, upstreamError } from './upstream-error.ts';

/** The service that requests are forwarded to, and the parts that its calls use. */
export interface ProxyOptions extends ProblemContext {
  /** The name of the service, which is the audience of its tokens. */
  name: string;
  url: string;
  /** The first segments of the paths that it serves. */
  prefixes: readonly string[];
  agent: UpstreamAgent;
  tokens: InternalTokens;
  /** Decides which traces are recorded; undefined if none is. */
  tracer: Sampler | undefined;
  /** Counts the body of a request against the limit of its caller. */
  holdBody(request: FastifyRequest, reply: FastifyReply): void;
  log: Logger;
  deadlineMs: number;
  addressOf: ClientAddress;
  /** Aborts when the gateway closes: streams of events end then. */
  closing: AbortSignal;
}

/**
 * Registers the routes of one service. Bodies pass unchanged in both directions. The credential of the client is replaced
 * by an internal token.
 *
 * Errors: unsupported_encoding, body_too_large, upstream_unavailable, upstream_failed, deadline_exceeded. The responses
 * of the service, errors included, are passed on.
 * Source: docs/reference/api.md, Service-to-service calls; docs/reference/api.md, Limits of use.
 */
export async function registerProxy(app: FastifyInstance, options: ProxyOptions): Promise<void> {
  const { name, agent, tokens, holdBody, deadlineMs } = options;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request, body, done) => {
    // The service refuses a request without a route and does not read its body, so no body is forwarded.
    done(null, findRequestContext(request).route && bodyWithinLimit(request, body));
  });
  app.addHook('onRequest', async (request, reply) => {
    requireAcceptableBody(request);
    holdBody(request, reply);
    findRequestContext(request).internalAuthorization =
      `Bearer ${await tokens.mint(name, requireAdmission(request).caller)}`;
  });
  handleUpstreamErrors(app, options);
  await app.register(fastifyHttpProxy, {
    upstream: options.url,
    routes: options.prefixes.flatMap((prefix) => [prefix, `${prefix}/*`]),
    // All methods are forwarded; the service responds with 405 to a method that the path does not have.
    httpMethods: routedMethods(app),
    proxyPayloads: false,
    // The cast is needed because the types of the proxy are for an older undici, and for calls without a callback.
    undici: { request: agent.request } as NonNullable<FastifyHttpProxyOptions['undici']>,
    retryMethods: [],
    disableRequestLogging: true,
    disableCache: true,
    internalRewriteLocationHeader: false,
    replyOptions: { rewriteHeaders: responseHeaders, onError: (reply, { error }) => reply.send(error) },
    handler: (request, reply, path, replyOptions) => {
      const call = beginCall(reply, deadlineMs);
      findRequestContext(request).isForwarded = true;
      const forwardOptions = {
        ...replyOptions,
        rewriteRequestHeaders: () => requestHeaders(request, options.tracer, options.addressOf(request)),
        onResponse: (_: unknown, __: unknown, response: { stream: Readable }) => {
          call.responseBegan();
          countCost(request, reply);
          reply.send(
            isEventStream(reply.getHeader('content-type'))
              ? endedBy(options.closing, response.stream, reply)
              : response.stream,
          );
        },
      };
      const bodyTimeoutMs = isEventStream(request.headers.accept) ? eventPauseMs : undefined;
      return agent.withCall({ signal: call.signal, bodyTimeoutMs }, () => reply.from(path, forwardOptions));
    },
  });
}

/** Responds to errors, above all to failed calls; a call may also fail between the headers and the body of its response. */
function handleUpstreamErrors(app: FastifyInstance, options: ProxyOptions): void {
  app.setErrorHandler((error, request, reply) => {
    if (!findRequestContext(request).isForwarded) return sendProblem(error, request, reply, options);
    const translated = upstreamError(options.name, error);
    if (!reply.raw.destroyed) logFailure(translated, request, options);
    return sendProblem(translated, request, reply, options);
  });
}

function logFailure(error: DomainError, request: FastifyRequest, { log, name }: ProxyOptions): void {
  if (error.code !== 'unavailable' && error.code !== 'deadline_exceeded') return;
  const { traceId } = findRequestContext(request).trace;
  log.warn({ err: error.cause ?? error, upstream: name, traceId }, 'a call to a service failed');
}

/** Streams of events have a comment every 15 seconds. One that pauses for this long has lost its service. */
const eventPauseMs = 60_000;

/** Whether a header names the media type of server-sent events. */
function isEventStream(header: unknown): boolean {
  return typeof header === 'string' && header.toLowerCase().includes('text/event-stream');
}

/** Counts a request as many, if its response says so. */
function countCost(request: FastifyRequest, reply: FastifyReply): void {
  const cost = Number(reply.getHeader(costHeader) ?? 1);
  if (cost > 1) findRequestContext(request).countMore?.(cost - 1);
}

/** How long a client has to read the rest of a stream that has ended. */
const unreadMs = 2_000;

/**
 * Passes the bytes on and ends them early when the signal aborts: the client then has a whole response and connects
 * elsewhere. A client that does not read loses its connection.
 */
function endedBy(closing: AbortSignal, source: Readable, reply: FastifyReply): Readable {
  const bytes = new PassThrough();
  const end = () => {
    source.unpipe(bytes);
    bytes.end();
    const timer = setTimeout(() => reply.raw.destroy(), unreadMs);
    onClosed(reply, () => clearTimeout(timer));
  };
  source.once('error', (error) => bytes.destroy(error));
  source.pipe(bytes);
  bytes.once('close', () => {
    closing.removeEventListener('abort', end);
    source.destroy();
  });
  if (closing.aborted) end();
  else closing.addEventListener('abort', end);
  return bytes;
}

/** Aborts a call when its deadline passes before the response begins, and whenever the client disconnects. */
function beginCall(reply: FastifyReply, deadlineMs: number): { signal: AbortSignal; responseBegan(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(deadlineExceeded()), deadlineMs);
  onClosed(reply, () => {
    clearTimeout(timer);
    if (!reply.raw.writableFinished) controller.abort();
  });
  return { signal: controller.signal, responseBegan: () => clearTimeout(timer) };
}
