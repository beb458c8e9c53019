import { describe, expect, it } from 'vitest';
import { readAddresses, readAuthor } from './addresses.ts';

describe('the author of', () => {
  it.each([
    ['Kim Probe <kim@x.org>', 'kim@x.org', 'Kim Probe'],
    ['kim@x.org', 'kim@x.org', null],
    ['kim@x.org (Kim Probe)', 'kim@x.org', 'Kim Probe'],
    ['"Probe, Kim" <kim@x.org>', 'kim@x.org', 'Probe, Kim'],
    ['Kim Probe, Dr. <kim@x.org>', 'kim@x.org', 'Kim Probe, Dr.'],
    ['Probe, Kim <kim@x.org>', 'kim@x.org', 'Probe, Kim'],
    ['Kim; Lee <kim@x.org>', 'kim@x.org', 'Kim, Lee'],
    ['Kim\\, Dr. <kim@x.org>', 'kim@x.org', 'Kim\\, Dr.'],
    ['<mailto:kim@x.org>', 'kim@x.org', null],
    ["<'kim@x.org'>", 'kim@x.org', null],
    ['<kim@x.org.>', 'kim@x.org', null],
    ['< kim@x.org >', 'kim@x.org', null],
    ['Kim <kim@x.org>>', 'kim@x.org', 'Kim'],
    ["'Kim' <kim@x.org>", 'kim@x.org', "'Kim'"],
    ['Lee <>, Kim <kim@x.org>', 'kim@x.org', 'Lee, Kim'],
    ['Lee <lee@x.org>, Kim <kim@x.org>', 'lee@x.org', 'Lee'],
    ['Team: Lee <lee@x.org>, Kim <kim@x.org>;', 'lee@x.org', 'Lee'],
    ['=?utf-8?Q?Probe=2C_Kim?= <kim@x.org>', 'kim@x.org', 'Probe, Kim'],
    ['=?utf-8?B?S2ltIDxraW1AeC5vcmc+?=', 'kim@x.org', 'Kim'],
    ['=?utf-8?B?a2ltQHgub3Jn?=', 'kim@x.org', 'kim@x.org'],
    ['root@localhost', 'root@localhost', null],
    ['Kim <kim at x.org>', 'kim at x.org', 'Kim'],
    ['Hausmeister', 'Hausmeister', 'Hausmeister'],
  ])('%s is %s', (header, from, fromName) => {
    expect(readAuthor([header])).toEqual({ from, fromName });
  });

  it('several headers is that of the first one that has an address', () => {
    expect(readAuthor(['Kim', 's@x.org', 'r@x.org'])).toEqual({ from: 's@x.org', fromName: null });
    expect(readAuthor(['root@localhost', 'r@x.org'])).toEqual({ from: 'r@x.org', fromName: null });
    expect(readAuthor(['', '<>', '""'])).toBeUndefined();
    expect(readAuthor([])).toBeUndefined();
  });
});

it.each([
  ['a@x.org, B <b@x.org>', ['a@x.org', 'b@x.org']],
  ['a@x.org; b@x.org', ['a@x.org', 'b@x.org']],
  ['Team: a@x.org, b@x.org;, c@x.org', ['a@x.org', 'b@x.org', 'c@x.org']],
  ['undisclosed-recipients:;', []],
  ['Probe, Kim <k@x.org>, Muster, Max <m@x.org>', ['k@x.org', 'm@x.org']],
  ["<mailto:a@x.org>, 'b@x.org'", ['a@x.org', 'b@x.org']],
  ['"a@x.org" <b@x.org>', ['b@x.org']],
  ['"evil@x.org"@y.org', ['"evil@x.org"@y.org']],
])('the addresses of %s are %j', (header, expected) => {
  expect(readAddresses([header])).toEqual(expected);
});
