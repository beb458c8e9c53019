import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '@ticketing/errors/domain-error.ts';

/** Refuses a body that is compressed: it would be read as it is, or kept as it is. Errors: unsupported_encoding. */
export function requirePlainBody(headers: IncomingHttpHeaders): void {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (!hasBody || encoding === '' || encoding === 'identity') return;
  throw new DomainError('invalid_argument', 'unsupported_encoding', 'A body may not have a Content-Encoding.');
}
