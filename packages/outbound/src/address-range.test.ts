import { describe, expect, it } from 'vitest';
import { addressMatcher, parseAddressRange } from './address-range.ts';
import { addressRules } from './address-rules.ts';

const rules = addressRules({ allow: [], requireHttps: true });

describe('the special-purpose range', () => {
  it.each([
    ['0/8', '0.0.0.0', '0.255.255.255', undefined, '1.0.0.0'],
    ['10/8', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
    ['100.64/10', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
    ['127/8', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
    ['168.63.129.16', '168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
    ['169.254/16', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
    ['172.16/12', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
    ['192.0.0/24', '192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
    ['192.0.2/24', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
    ['192.88.99/24', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
    ['192.168/16', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
    ['198.18/15', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
    ['198.51.100/24', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
    ['203.0.113/24', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
    ['224/4 and 240/4', '224.0.0.0', '255.255.255.255', '223.255.255.255', undefined],
    ['::/3', '::', '1fff:ffff::', undefined, '2000::'],
    ['2001::/23', '2001::', '2001:1ff:ffff::', '2000:ffff::', '2001:200::'],
    ['2001:db8::/32', '2001:db8::', '2001:db8:ffff::', '2001:db7:ffff::', '2001:db9::'],
    ['2002::/16', '2002::', '2002:ffff::', '2001:ffff::', '2003::'],
    ['3fff::/20', '3fff::', '3fff:fff:ffff::', '3ffe:ffff::', '3fff:1000::'],
    ['4000::/2 and 8000::/1', '4000::', 'ffff:ffff::', '3fff:ffff::', undefined],
    // guarantee: O12
  ])('%s contains %s and %s, and not %s and %s', (_name, first, last, before, after) => {
    for (const address of [first, last]) expect(rules.findRefusal(address, 'https:'), address).toBe('SPECIAL_ADDRESS');
    for (const address of [before, after]) {
      if (address !== undefined) expect(rules.findRefusal(address, 'https:'), address).toBeUndefined();
    }
  });
});

describe('a range', () => {
  it.each([
    ['127.0.0.0/8', { address: '127.0.0.0', prefix: 8, family: 'ipv4' }],
    ['10.1.2.3', { address: '10.1.2.3', prefix: 32, family: 'ipv4' }],
    ['10.1.2.3/0', { address: '10.1.2.3', prefix: 0, family: 'ipv4' }],
    ['::1', { address: '::1', prefix: 128, family: 'ipv6' }],
    ['FD00::/8', { address: 'fd00::', prefix: 8, family: 'ipv6' }],
  ])('can be %s', (text, expected) => {
    expect(parseAddressRange(text)).toEqual(expected);
  });

  it.each(['', '10.0.0.0/33', '::/129', '10.0.0', '10/8', 'localhost', '10.0.0.0/', '10.0.0.0/-1', 'fe80::1%eth0'])(
    'cannot be "%s"',
    (text) => {
      expect(parseAddressRange(text)).toBeUndefined();
    },
  );

  it('cannot be IPv4-mapped, because such addresses are compared as IPv4 addresses', () => {
    expect(parseAddressRange('::ffff:10.0.0.0/104')).toBeUndefined();
    expect(addressMatcher([{ address: '10.0.0.0', prefix: 8, family: 'ipv4' }])('::ffff:a00:1')).toBe(true);
    expect(addressMatcher([{ address: '::', prefix: 0, family: 'ipv6' }])('::ffff:a00:1')).toBe(false);
  });
});
