import type { DomainError, Violation } from '@ticketing/errors/domain-error.ts';
import { toHttpStatus } from '@ticketing/errors/error-table.ts';

/** A problem document (RFC 9457) with the members of docs/reference/api.md, Errors. */
export interface ProblemDocument {
  type: string;
  title: string;
  status: number;
  detail?: string;
  instance: string;
  success: false;
  code: string;
  traceId: string;
  errors?: readonly Violation[];
}

/** The media type of a problem document. */
export const problemMediaType = 'application/problem+json';

/** Returns the problem document of an error; for an internal error it reveals only the trace id. */
export function toProblem(error: DomainError, at: { instance: string; traceId: string }): ProblemDocument {
  const { status, title, isInternal } = toHttpStatus(error);
  return {
    type: `urn:ticketing:problem:${error.reason}`,
    title: error.title ?? (error.code === 'not_found' ? error.message : title),
    status,
    ...(isInternal ? {} : { detail: error.message }),
    instance: at.instance,
    success: false,
    code: error.reason,
    traceId: at.traceId,
    ...(error.violations.length > 0 ? { errors: error.violations } : {}),
  };
}

/** Returns the headers of the response that carries a problem document. */
export function problemHeaders(error: DomainError, status: number): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': problemMediaType, 'cache-control': 'no-store' };
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds);
  else if (status === 429 || status === 503 || status === 504) headers['retry-after'] = '1';
  return headers;
}
