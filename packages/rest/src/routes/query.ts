import { DomainError } from '@ticketing/errors/domain-error.ts';
import { parse } from 'qs';

/**
 * Reads a query string with nested names (`filters[0][key]=…`) into an object without a prototype.
 *
 * Errors: invalid_query for more than 1,000 parameters, nesting beyond 5, or text that is not UTF-8. A name that occurs
 * twice becomes a list, which the decoder of a single value refuses. A name that qs would silently drop is kept, so
 * that the decoder refuses it as unknown.
 */
export function parseQuery(text: string): Record<string, unknown> {
  if (!isUtf8(text)) throw invalidQuery('is not UTF-8');
  const pairs = text.split('&').filter((pair) => pair !== '');
  const query = parsePairs(pairs.map(escapeValue).join('&'));
  for (const pair of pairs) {
    const name = decodeURIComponent(readName(pair).replaceAll('+', ' '));
    if (name === '' || name.includes('__proto__')) query[name] = '';
  }
  return query;
}

function readName(pair: string): string {
  const end = pair.indexOf('=');
  return end < 0 ? pair : pair.slice(0, end);
}

// qs takes the first `]=` for the end of a name, even if it is inside the value.
function escapeValue(pair: string): string {
  const name = readName(pair);
  return name.length === pair.length ? pair : `${name}=${pair.slice(name.length + 1).replaceAll('=', '%3D')}`;
}

function parsePairs(text: string): Record<string, unknown> {
  try {
    return parse(text, {
      plainObjects: true,
      allowPrototypes: false,
      depth: 5,
      strictDepth: true,
      parameterLimit: 1000,
      throwOnLimitExceeded: true,
      arrayLimit: 1000,
      duplicates: 'combine',
      ignoreQueryPrefix: true,
    });
  } catch (error) {
    if (error instanceof RangeError) throw invalidQuery('has too many parameters or is nested too deeply');
    throw error;
  }
}

function isUtf8(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function invalidQuery(detail: string): DomainError {
  return new DomainError('invalid_argument', 'invalid_query', `The query string ${detail}.`, {
    violations: [{ pointer: '#/query', code: 'invalid_query', detail }],
  });
}
