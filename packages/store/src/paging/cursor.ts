import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { derivedKey } from './derived-key.ts';

/** The state that a cursor carries from page to page. Units: times in Unix seconds. */
export interface CursorState {
  /** When the first page was read. All pages use this time, so that conditions on the time do not change between them. */
  now: number;
  total: number;
  /** How many matches come before the next page. */
  offset: number;
  /** The segment, the value and the id of the last item of the page, as in `Position`. */
  segment: number;
  value: unknown;
  id: number;
}

/** Writes and reads cursors. */
export interface CursorCodec {
  write(state: CursorState, boundTo: unknown): string;
  /** Errors: invalid_cursor if it was not written by this codec, or is bound to something else. */
  read(cursor: string, boundTo: unknown): CursorState;
}

/**
 * Makes a codec for opaque cursors. Each is signed with `key`, together with what it is bound to: filters, order, scope.
 *
 * Source: docs/reference/api.md, Order and pages.
 */
export function cursorCodec(key: Buffer): CursorCodec {
  const sign = (payload: string, boundTo: unknown) =>
    createHmac('sha256', key).update(payload).update('\n').update(digest(boundTo)).digest('base64url');
  return {
    write(state, boundTo) {
      const payload = Buffer.from(JSON.stringify(toPlain(state))).toString('base64url');
      return `${payload}.${sign(payload, boundTo)}`;
    },
    read(cursor, boundTo) {
      const [payload = '', signature = '', ...rest] = cursor.split('.');
      // The texts are compared, not the decoded bytes: several texts of base64 decode to the same bytes.
      const given = Buffer.from(signature);
      const expected = Buffer.from(sign(payload, boundTo));
      if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) {
        throw new DomainError('invalid_argument', 'invalid_cursor', 'The cursor does not belong to this search.', {
          violations: [{ pointer: '#/cursor', code: 'invalid_cursor', detail: 'does not belong to this search' }],
        });
      }
      return fromPlain(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    },
  };
}

/**
 * Makes the codec of a service. Its key is derived from the signing key of the service, which all replicas share: each can
 * read the cursors of the others.
 */
export function openCursorCodec(signingKeyFile: string): CursorCodec {
  return cursorCodec(derivedKey(signingKeyFile, 'cursor'));
}

function digest(boundTo: unknown): Buffer {
  return createHash('sha256').update(JSON.stringify(boundTo)).digest();
}

function toPlain(state: CursorState): unknown {
  return state.value instanceof Date ? { ...state, value: { date: state.value.getTime() } } : state;
}

function fromPlain(plain: CursorState): CursorState {
  const { value } = plain;
  const isDate = typeof value === 'object' && value !== null && 'date' in value;
  return isDate ? { ...plain, value: new Date(Number(value.date)) } : plain;
}
