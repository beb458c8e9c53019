import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Call } from './call.ts';

/**
 * Reads the header `If-Match` of a request, and returns a check of the ticket's current version. Without the header every
 * version passes; a weak entity tag never matches.
 *
 * Errors of the check: stale_version. Source: docs/reference/api.md, Concurrency and If-Match; RFC 9110, 13.1.1.
 */
export function versionPrecondition(call: Call): (version: number) => void {
  const header = call.header('if-match');
  if (header === undefined || header.trim() === '*') return () => undefined;
  const tags = header.split(',').map((tag) => tag.trim());
  return (version) => {
    if (tags.includes(`"${version}"`)) return;
    throw staleVersion(`The ticket has version ${version}.`);
  };
}

/** Makes the error for a change that expects a version other than the ticket's current one. */
export function staleVersion(detail: string): DomainError {
  return new DomainError('failed_precondition', 'stale_version', detail);
}
