import { describe, expect, it } from 'vitest';
import { parseRetryAfter } from './retry-after.ts';

const now = 1_700_000_000_000;

describe('Retry-After', () => {
  it.each([
    ['0', now],
    ['120', now + 120_000],
    ['Fri, 31 Dec 1999 23:59:59 GMT', 946_684_799_000],
    ['Tue, 14 Nov 2023 22:13:25 GMT', now + 5000],
  ])('can be %s', (header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected);
  });

  it.each([
    undefined,
    '',
    '-1',
    '1.5',
    ' 5',
    '99999999999',
    'soon',
    '2030-01-01',
    'Xyz, 99 Foo 2023 22:13:25 GMT',
    ['5'],
  ])('is ignored if it is %j', (header) => {
    expect(parseRetryAfter(header, now)).toBeUndefined();
  });
});
