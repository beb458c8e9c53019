import type { Violation } from '@ticketing/errors/domain-error.ts';
import { type JsonThread, type JsonThreadOptions, openJsonThread } from './json-thread.ts';
import { type ParsedJson, parseJson } from './parse-json.ts';

/**
 * Reads and writes JSON: small texts at once, and texts that would block the event loop for too long in a thread
 * (docs/decisions/0028).
 */
export interface LargeJson {
  /** Parses a body with `parseJson`. A large body cannot be read afterwards. Errors: those of `JsonThread.parse`. */
  parse(caller: string, body: Uint8Array): ParsedJson | Promise<ParsedJson>;
  /** Checks a body as `parse` does. Returns its bytes; the given ones cannot be read afterwards. */
  check(caller: string, body: Uint8Array): Promise<{ body: Uint8Array; violations: readonly Violation[] }>;
  /** Writes a value as `JSON.stringify` does. Never fails because of the thread: the change was made already. */
  write(caller: string, value: unknown): string | Promise<Buffer>;
  /** Ends the thread. Large bodies are refused afterwards; values are written at once. */
  close(): Promise<void>;
}

/** Bytes of a body from which it is parsed in the thread: a smaller one takes 5 ms at most, if its keys are few. */
export const largeBodyBytes = 1024 * 1024;
/** Characters of the texts of a value above which it is written in the thread. As many take 10 ms at most. */
export const largeTextLength = 1024 * 1024;

/** Opens the reader and writer of a process. The thread starts with the first large text. */
export function openLargeJson(options: JsonThreadOptions, thread: JsonThread = openJsonThread(options)): LargeJson {
  return {
    parse: (caller, body) => (body.length < largeBodyBytes ? parseJson(body) : thread.parse(caller, body)),
    async check(caller, body) {
      if (body.length >= largeBodyBytes) return thread.check(caller, body);
      return { body, violations: parseJson(body).violations };
    },
    write: (caller, value) =>
      lengthOfTexts(value, largeTextLength) > largeTextLength
        ? thread.write(caller, value).then(
            ({ buffer }) => Buffer.from(buffer),
            () => Buffer.from(JSON.stringify(value)),
          )
        : JSON.stringify(value),
    close: () => thread.close(),
  };
}

/** Counts the characters of all texts in a value. The count ends above `enough`. */
function lengthOfTexts(value: unknown, enough: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && length <= enough; index++) {
      length += lengthOfTexts(value[index], enough - length);
    }
    return length;
  }
  for (const key in value) {
    length += lengthOfTexts((value as Record<string, unknown>)[key], enough - length);
    if (length > enough) break;
  }
  return length;
}
