import { type FastifyHttpProxyOptions, fastifyHttpProxy } from '@fastify/http-proxy';
import type { DomainError } from '@ticketing/errors/domain-error.ts';
import { type ProblemContext, sendProblem } from '@ticketing/rest/problem-reply.ts';
import { routedMethods } from '@ticketing/rest/rest-api.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { InternalTokens } from '@ticketing/service-kit/identity/internal-token.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bodyWithinLimit, requireBodyFits } from './body-limit.ts';
import { requestHeaders, responseHeaders } from './forwarded-headers.ts';
import { admissionOf, requestContextOf } from './request-context.ts';
import type { UpstreamAgent } from './upstream-agent.ts';
import { deadlineExceeded, upstreamError } from './upstream-error.ts';

/** A service behind the gateway, and what it takes to call it. */
export interface ProxyOptions extends ProblemContext {
  /** The name of the service: the audience of its tokens. */
  name: string;
  url: string;
  /** The first segments of the paths that it serves. */
  prefixes: readonly string[];
  agent: UpstreamAgent;
  tokens: InternalTokens;
  log: Logger;
  deadlineMs: number;
}

/**
 * Registers the routes of one service: bytes pass unchanged in both directions, identity is the gateway's.
 *
 * Errors: body_too_large, upstream_unavailable, upstream_failed, deadline_exceeded; all others are the service's own.
 * Source: decisions.md sections 3 and 13.
 */
export async function registerProxy(app: FastifyInstance, options: ProxyOptions): Promise<void> {
  const { name, agent, tokens, deadlineMs } = options;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request, body, done) => done(null, bodyWithinLimit(request, body)));
  app.addHook('onRequest', async (request) => {
    requireBodyFits(request);
    requestContextOf(request).internalAuthorization = `Bearer ${await tokens.mint(name, admissionOf(request).caller)}`;
  });
  answerUpstreamErrors(app, options);
  await app.register(fastifyHttpProxy, {
    upstream: options.url,
    routes: options.prefixes.flatMap((prefix) => [prefix, `${prefix}/*`]),
    // The service refuses those that a path does not have.
    httpMethods: routedMethods(app),
    proxyPayloads: false,
    // Typed for an older undici and for calls without a callback, of which the proxy makes none.
    undici: { request: agent.request } as NonNullable<FastifyHttpProxyOptions['undici']>,
    retryMethods: [],
    disableRequestLogging: true,
    disableCache: true,
    internalRewriteLocationHeader: false,
    replyOptions: { rewriteHeaders: responseHeaders, onError: (reply, { error }) => reply.send(error) },
    handler: (request, reply, path, replyOptions) => {
      const call = beginCall(reply, deadlineMs);
      requestContextOf(request).wasCalled = true;
      const callOptions = {
        ...replyOptions,
        rewriteRequestHeaders: () => requestHeaders(request),
        onResponse: (_: unknown, __: unknown, answer: { stream: unknown }) => {
          call.answered();
          reply.send(answer.stream);
        },
      };
      return agent.during(call.signal, () => reply.from(path, callOptions));
    },
  });
}

/** Also reached when a service fails between its headers and its body. */
function answerUpstreamErrors(app: FastifyInstance, options: ProxyOptions): void {
  app.setErrorHandler((error, request, reply) => {
    const { wasCalled } = requestContextOf(request);
    const answered = wasCalled ? upstreamError(options.name, error) : error;
    if (wasCalled && !reply.raw.destroyed) report(answered as DomainError, request, options);
    return sendProblem(answered, request, reply, options);
  });
}

function report(error: DomainError, request: FastifyRequest, { log, name }: ProxyOptions): void {
  if (error.code !== 'unavailable' && error.code !== 'deadline_exceeded') return;
  const { traceId } = requestContextOf(request).trace;
  log.warn({ err: error.cause ?? error, upstream: name, traceId }, 'a call to a service failed');
}

/** A call to a service ends with its deadline until it is answered, and whenever its client goes away. */
function beginCall(reply: FastifyReply, deadlineMs: number): { signal: AbortSignal; answered(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(deadlineExceeded()), deadlineMs);
  reply.raw.once('close', () => {
    clearTimeout(timer);
    if (!reply.raw.writableFinished) controller.abort();
  });
  return { signal: controller.signal, answered: () => clearTimeout(timer) };
}
