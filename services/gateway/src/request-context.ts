import { continueTrace, type Trace } from '@ticketing/runtime/trace.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import type { FastifyRequest } from 'fastify';
import type { Credential } from './credential.ts';
import type { ContractRoute } from './route-table.ts';

/** What the gateway knows of a request on its way. */
export interface RequestContext {
  trace: Trace;
  /** Undefined where the contracts name no such route. */
  route?: ContractRoute;
  /** Whom the request is from; undefined until that is verified. */
  admission?: Admission;
  /** The `Authorization` header for the service. */
  internalAuthorization?: string;
  /** Set once the service is called: from then on what fails is its answer. */
  wasCalled?: true;
}

/** A credential that holds: for whom, and until when (Unix seconds). */
export interface Admission extends Credential {
  caller: Caller;
  expiresAt: number;
}

const passages = new WeakMap<FastifyRequest, RequestContext>();

/** The passage of a request; begun when it is first asked for. */
export function requestContextOf(request: FastifyRequest): RequestContext {
  const known = passages.get(request);
  if (known) return known;
  const { traceparent } = request.headers;
  const passage: RequestContext = { trace: continueTrace(typeof traceparent === 'string' ? traceparent : undefined) };
  passages.set(request, passage);
  return passage;
}

/** Whom a request is from. Errors: a route that was reached without a credential is a fault of the gateway. */
export function admissionOf(request: FastifyRequest): Admission {
  const { admission } = requestContextOf(request);
  if (!admission) throw new Error(`${request.url} was not admitted`);
  return admission;
}
