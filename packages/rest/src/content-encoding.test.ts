import { expect, test } from 'vitest';
import { requirePlainBody } from './content-encoding.ts';

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
