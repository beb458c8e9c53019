import { DomainError } from '@ticketing/errors/domain-error.ts';

/**
 * Returns the path of a request, exactly as the service will receive it.
 *
 * Errors: malformed_request for a path that a later URL parser could rewrite (`.` and `..` segments, a backslash, a
 * fragment), because the gateway would then apply the rules of another path than the one that is called.
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
