import { expect, test } from 'vitest';
import { requireBodyFits, requirePlainBody } from './body-headers.ts';

test.each(['gzip', 'br', 'deflate', 'identity, gzip', 'x'])(
  'a body with Content-Encoding: %s is refused',
  (encoding) => {
    for (const body of [{ 'content-length': '1' }, { 'transfer-encoding': 'chunked' }]) {
      expect(() => requirePlainBody({ ...body, 'content-encoding': encoding })).toThrowError(
        expect.objectContaining({ reason: 'unsupported_encoding' }),
      );
    }
  },
);

test('a body that is not encoded is accepted, and so is a request without one', () => {
  for (const headers of [
    { 'content-length': '1' },
    { 'content-length': '1', 'content-encoding': 'identity' },
    { 'content-length': '1', 'content-encoding': ' Identity' },
    { 'content-length': '0', 'content-encoding': 'gzip' },
    { 'content-encoding': 'gzip' },
  ]) {
    expect(() => requirePlainBody(headers)).not.toThrow();
  }
});

test('a body that announces as much as the limit is accepted, and not one byte more', () => {
  expect(() => requireBodyFits({ 'content-length': '10' }, 10)).not.toThrow();
  expect(() => requireBodyFits({}, 10)).not.toThrow();
  expect(() => requireBodyFits({ 'content-length': '11' }, 10)).toThrowError(
    expect.objectContaining({ reason: 'body_too_large' }),
  );
});
