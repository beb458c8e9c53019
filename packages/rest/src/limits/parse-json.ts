import { DomainError, invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import { scanJson } from '../codec/scan-json.ts';
import { limitJsonStructure } from './structure-limit.ts';

const maxJsonDepth = 64;

/** The value of a JSON text, and the violations that are invisible in it (see `scanJson`). */
export interface ParsedJson {
  json: unknown;
  violations: readonly Violation[];
}

/**
 * Parses a JSON text in UTF-8.
 *
 * Errors: malformed_json, too_complex, too_deep.
 */
export function parseJson(bytes: Uint8Array): ParsedJson {
  limitJsonStructure(bytes);
  const text = decodeUtf8(bytes);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw malformed('The body is not JSON.', error);
  }
  const violations = scanJson(text, maxJsonDepth);
  // The decoders are recursive, so they must not be called with a nesting that is too deep.
  if (violations.some(({ code }) => code === 'too_deep')) throw invalidInput(violations);
  return { json, violations };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw malformed('The body is not UTF-8.', error);
  }
}

function malformed(detail: string, cause: unknown): DomainError {
  return new DomainError('invalid_argument', 'malformed_json', detail, {
    violations: [{ pointer: '#', code: 'malformed_json', detail }],
    cause,
  });
}
