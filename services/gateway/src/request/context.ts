import { continueTrace, type Trace } from '@ticketing/runtime/trace.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import type { FastifyRequest } from 'fastify';
import type { ContractRoute } from './route-table.ts';

/** The state of a request in the gateway. */
export interface RequestContext {
  trace: Trace;
  /** The route of the contracts; undefined if none matches. */
  route?: ContractRoute;
  /** The verified credential; undefined before it is verified, and for public pages. */
  admission?: Admission;
  /** Counts further requests that this one stands for. */
  countMore?: (requests: number) => void;
  /** Counts bytes of a chunked body against the limit of its caller. Errors: too_many_at_once. */
  takeBodyBytes?: (bytes: number) => void;
  /** The `Authorization` header for the service. */
  internalAuthorization?: string;
  /** Set when the request is forwarded to a service. A later error is a failure of that call. */
  isForwarded?: true;
}

/** The token of a request, and where it was found. */
export interface Credential {
  token: string;
  source: 'header' | 'cookie';
}

/** A verified credential, with its caller and its expiry (Unix seconds). */
export interface Admission extends Credential {
  caller: Caller;
  expiresAt: number;
}

const contexts = new WeakMap<FastifyRequest, RequestContext>();

/** Returns the context of a request. It is created on first use. */
export function findRequestContext(request: FastifyRequest): RequestContext {
  const known = contexts.get(request);
  if (known) return known;
  const { traceparent } = request.headers;
  const context: RequestContext = { trace: continueTrace(typeof traceparent === 'string' ? traceparent : undefined) };
  contexts.set(request, context);
  return context;
}

/** Returns the verified credential of a request. Errors: an internal error if the request was not admitted. */
export function requireAdmission(request: FastifyRequest): Admission {
  const { admission } = findRequestContext(request);
  if (!admission) throw new Error(`${request.url} was not admitted`);
  return admission;
}
