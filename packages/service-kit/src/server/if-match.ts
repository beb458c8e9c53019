import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Call } from './call.ts';

/**
 * Reads `If-Match` of a request: whether a version fits it. Without the header every version does; a weak tag never.
 *
 * Errors of the check: stale_version. Source: decisions.md section 5; RFC 9110, 13.1.1.
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

/** The error for a version that a ticket no longer has. */
export function staleVersion(detail: string): DomainError {
  return new DomainError('failed_precondition', 'stale_version', detail);
}
