import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { CollectorLimitError } from '@ticketing/runtime/byte-collector.ts';

/** The reason of a refusal in the middle of a body, the rest of which the server reads and discards. */
export const bodiesInFlightReason = 'bodies_in_flight';

/** Refuses a body that is compressed: it would be read as it is, or kept as it is. Errors: unsupported_encoding. */
export function requirePlainBody(headers: IncomingHttpHeaders): void {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (!hasBody || encoding === '' || encoding === 'identity') return;
  throw new DomainError('invalid_argument', 'unsupported_encoding', 'A body may not have a Content-Encoding.');
}

/** Refuses a body that announces more than a limit. Units: `maxBytes` in bytes. Errors: body_too_large. */
export function requireBodyFits(headers: IncomingHttpHeaders, maxBytes: number): void {
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
}

/** Makes the error for a body that is larger than its method accepts. */
export function bodyTooLarge(maxBytes: number): DomainError {
  return new DomainError('resource_exhausted', 'body_too_large', `The body is larger than ${maxBytes} bytes.`);
}

/** Turns the limits of a collector into errors of a body; any other error stays. Units: `maxBytes` in bytes. */
export function toBodyError(error: unknown, maxBytes: number): unknown {
  if (!(error instanceof CollectorLimitError)) return error;
  if (error.limit === 'bytes') return bodyTooLarge(maxBytes);
  return new DomainError('invalid_argument', 'too_many_pieces', 'The body arrives in too many pieces.');
}
