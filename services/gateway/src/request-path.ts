import { DomainError } from '@ticketing/errors/domain-error.ts';

/**
 * The path of a request, as the service will see it too.
 *
 * Errors: malformed_request for what a URL parser on the way would rewrite (`.` and `..` segments, a backslash, a
 * fragment): the rules of another path than the one that is called would be applied.
 */
export function requestPath(url: string): string {
  const queryStart = url.indexOf('?');
  const path = queryStart < 0 ? url : url.slice(0, queryStart);
  if (!path.startsWith('/') || url.includes('#') || !isPlain(path)) {
    throw new DomainError('invalid_argument', 'malformed_request', 'The path is malformed.');
  }
  return path;
}

function isPlain(path: string): boolean {
  if (!/[.\\%]/.test(path)) return true;
  try {
    const decoded = decodeURIComponent(path);
    return !decoded.includes('\\') && !decoded.split('/').some((segment) => segment === '.' || segment === '..');
  } catch {
    return false;
  }
}
