import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { DomainError } from '@ticketing/errors/domain-error.ts';

/** What a cursor carries from page to page. Times in Unix seconds. */
export interface CursorState {
  /** When the first page was read: what depends on the time stays the same on all pages. */
  now: number;
  total: number;
  /** How many matches lie before the next page. */
  offset: number;
  segment: number;
  value: unknown;
  id: number;
}

/** Writes and reads cursors. */
export interface CursorCodec {
  write(state: CursorState, boundTo: unknown): string;
  /** Errors: invalid_cursor if it was not made here, or for other filters, order or scope. */
  read(cursor: string, boundTo: unknown): CursorState;
}

/**
 * Makes opaque cursors, signed with `key` together with what they are bound to.
 *
 * Source: decisions.md section 4.
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
      // As texts: one signature has several base64 spellings, and decoding passes over what is not base64.
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
