import { isIP } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { type AddressRange, parseAddressRange } from './address-range.ts';
import { outboundGuard } from './outbound-guard.ts';

const range = (text: string): AddressRange => {
  const parsed = parseAddressRange(text);
  if (!parsed) throw new Error(`${text} is no range`);
  return parsed;
};

/** The names that the test's resolver knows. */
const names: Readonly<Record<string, readonly string[]>> = {
  'loopback.example': ['127.0.0.1'],
  'loopback.example.': ['127.0.0.1'],
  'private.example': ['10.0.0.5'],
  'metadata.example': ['169.254.169.254'],
  'mapped.example': ['::ffff:10.0.0.5'],
  'zone.example': ['fe80::1%eth0'],
  'mixed.example': ['93.184.215.14', '192.168.1.1'],
  'mixed-families.example': ['93.184.215.14', '::1'],
  localhost: ['127.0.0.1', '::1'],
  'localhost.': ['127.0.0.1', '::1'],
  'a.localhost': ['127.0.0.1', '::1'],
  'nonsense.example': ['not an address'],
  'empty.example': [],
};

async function resolve(name: string) {
  const found = names[name];
  if (found) return found;
  throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
}

const closed = outboundGuard({ allow: [], requireHttps: true, resolve });
const opened = outboundGuard({ allow: ['127.0.0.0/8', '::1'].map(range), requireHttps: true, resolve });
const plain = outboundGuard({ allow: [], requireHttps: false, resolve });
afterAll(() => Promise.all([closed, opened, plain].map((guard) => guard.close())));

const limits = {
  method: 'GET',
  deadlineMs: 10_000,
  maxResponseBytes: 1,
  longResponse: 'cut',
  maxRedirects: 0,
} as const;

/** Returns the outcome of a URL: refused when it is saved or, if its host is a name that can be saved, when dialled. */
async function toOutcome(guard: typeof closed, url: string): Promise<string> {
  const problem = guard.checkUrl(url);
  if (problem === undefined && isIP(new URL(url).hostname.replace(/[[\]]/g, '')) > 0) return 'accepted';
  const dialled = await guard.request({ ...limits, url }).then(
    ({ status }) => `responds with ${status}`,
    ({ kind, code }) => `${kind} ${code}`,
  );
  if (problem === undefined) return dialled;
  // A URL that cannot be saved is not dialled either, for example when it was saved under other rules.
  const kind = problem.code === 'address_refused' ? 'address_refused' : 'request_refused';
  expect(dialled).toBe(`${kind} ${problem.code.toUpperCase()}`);
  return `cannot be saved: ${problem.code}`;
}

const refused = 'cannot be saved: address_refused';
const invalid = 'cannot be saved: invalid_url';
const withUser = 'cannot be saved: user_info';
const notDialled = 'address_refused SPECIAL_ADDRESS';

// asvs: 1.2.2, 13.2.4-13.2.5
describe('a guard that allows nothing', () => {
  it.each([
    // Public addresses.
    ['https://93.184.215.14/hook', 'accepted'],
    ['https://93.184.215.14:8443/hook?a=b#c', 'accepted'],
    ['https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/', 'accepted'],
    ['https://[::ffff:93.184.215.14]/', 'accepted'],
    ['https://1572394766/', 'accepted'],
    // Loopback, spelt in the ways of inet_aton.
    ['https://127.0.0.1/', refused],
    ['https://127.0.0.1:8080/', refused],
    ['https://127.255.255.254/', refused],
    ['https://127.1/', refused],
    ['https://127.0.1/', refused],
    ['https://2130706433/', refused],
    ['https://0x7f000001/', refused],
    ['https://0x7f.0.0.1/', refused],
    ['https://0X7F.1/', refused],
    ['https://017700000001/', refused],
    ['https://0177.0.0.01/', refused],
    ['https://0177.0x0.1/', refused],
    ['https://127.0.0.1./', refused],
    ['https://127.0.0.1%2e/', refused],
    ['https://%31%32%37.0.0.1/', refused],
    ['https://１２７.０.０.１/', refused],
    ['https://①②⑦.⓪.⓪.①/', refused],
    ['https://127。0。0。1/', refused],
    ['https://0/', refused],
    ['https://0.0.0.0/', refused],
    // Numbers that are no addresses.
    ['https://4294967296/', invalid],
    ['https://256.0.0.1/', invalid],
    ['https://1.2.3.4.5/', invalid],
    ['https://0400.0.0.1/', invalid],
    ['https://127.0.0.08/', invalid],
    ['https://127.0.0.1../', 'resolve_failed ENOTFOUND'],
    // Special-purpose IPv4 addresses.
    ['https://10.0.0.1/', refused],
    ['https://100.64.0.1/', refused],
    ['https://168.63.129.16/', refused],
    ['https://169.254.169.254/latest/meta-data/', refused],
    ['https://0xa9fea9fe/', refused],
    ['https://2852039166/', refused],
    ['https://172.31.255.255/', refused],
    ['https://192.0.0.192/', refused],
    ['https://192.168.0.1/', refused],
    ['https://198.19.255.255/', refused],
    ['https://224.0.0.1/', refused],
    ['https://255.255.255.255/', refused],
    // IPv6.
    ['https://[::1]/', refused],
    ['https://[0:0:0:0:0:0:0:1]/', refused],
    ['https://[::]/', refused],
    ['https://[::ffff:127.0.0.1]/', refused],
    ['https://[::ffff:7f00:1]/', refused],
    ['https://[0:0:0:0:0:ffff:a9fe:a9fe]/', refused],
    ['https://[::127.0.0.1]/', refused],
    ['https://[64:ff9b::7f00:1]/', refused],
    ['https://[64:ff9b:1::a00:1]/', refused],
    ['https://[2002:7f00:1::]/', refused],
    ['https://[2001:0:7f00:1::]/', refused],
    ['https://[fd00:ec2::254]/', refused],
    ['https://[fe80::1]/', refused],
    ['https://[fe80::1%25eth0]/', invalid],
    ['https://[fe80::1%eth0]/', invalid],
    ['https://[fec0::1]/', refused],
    ['https://[ff02::1]/', refused],
    ['https://[2001:db8::1]/', refused],
    ['https://[::1/', invalid],
    // User information, and hosts that only seem to be others.
    ['https://user@93.184.215.14/', withUser],
    ['https://user:secret@93.184.215.14/', withUser],
    ['https://@93.184.215.14/', withUser],
    ['https://93.184.215.14@127.0.0.1/', withUser],
    ['https://93.184.215.14%40127.0.0.1/', invalid],
    ['https://127.0.0.1#@93.184.215.14/', refused],
    ['https://127.0.0.1?@93.184.215.14/', refused],
    ['https://93.184.215.14\\@127.0.0.1/', invalid],
    ['https:\\\\127.0.0.1/', invalid],
    ['https:127.0.0.1/', invalid],
    ['https:///127.0.0.1/', invalid],
    ['//127.0.0.1/', invalid],
    ['127.0.0.1', invalid],
    [' https://93.184.215.14/', invalid],
    ['https://93.184.215.14/\r\nHost: a', invalid],
    ['ht\ntps://93.184.215.14/', invalid],
    // Other schemes.
    ['http://93.184.215.14/', 'cannot be saved: not_https'],
    ['http://127.0.0.1/', refused],
    ['http://loopback.example/', 'cannot be saved: not_https'],
    ['ftp://93.184.215.14/', 'cannot be saved: not_https'],
    ['file:///etc/passwd', invalid],
    ['file://host/etc/passwd', 'cannot be saved: not_https'],
    ['javascript://93.184.215.14/', 'cannot be saved: not_https'],
    // Names, whose addresses are known when they are dialled.
    ['https://loopback.example/', notDialled],
    ['https://loopback.example./', notDialled],
    ['https://LOOPBACK.example/', notDialled],
    ['https://private.example/', notDialled],
    ['https://metadata.example/', notDialled],
    ['https://mapped.example/', notDialled],
    ['https://zone.example/', notDialled],
    ['https://mixed.example/', notDialled],
    ['https://mixed-families.example/', notDialled],
    ['https://localhost/', notDialled],
    ['https://localhost./', notDialled],
    ['https://a.localhost/', notDialled],
    ['https://nonsense.example/', notDialled],
    ['https://empty.example/', 'resolve_failed ENODATA'],
    ['https://unknown.example/', 'resolve_failed ENOTFOUND'],
    // guarantee: O1, O3
  ])('%s: %s', async (url, outcome) => {
    expect(await toOutcome(closed, url)).toBe(outcome);
  });
});

describe('a guard that allows the loopback range', () => {
  it.each([
    ['http://127.0.0.1:3000/', 'accepted'],
    ['http://[::1]:3000/', 'accepted'],
    ['https://127.1/', 'accepted'],
    ['http://[::ffff:127.0.0.1]/', 'accepted'],
    ['http://10.0.0.1/', refused],
    ['http://169.254.169.254/', refused],
    ['http://[::2]/', refused],
    ['http://93.184.215.14/', 'cannot be saved: not_https'],
    ['https://93.184.215.14/', 'accepted'],
    ['http://private.example/', notDialled],
    ['http://mixed-families.example/', 'address_refused NOT_HTTPS'],
    // guarantee: O1, O3
  ])('%s: %s', async (url, outcome) => {
    expect(await toOutcome(opened, url)).toBe(outcome);
  });
});

describe('a guard that does not require https', () => {
  it.each([
    ['http://93.184.215.14/', 'accepted'],
    ['http://127.0.0.1/', refused],
    ['http://loopback.example/', notDialled],
    ['ftp://93.184.215.14/', 'cannot be saved: not_https'],
    // guarantee: O1, O3
  ])('%s: %s', async (url, outcome) => {
    expect(await toOutcome(plain, url)).toBe(outcome);
  });
});

// guarantee: O3
it('accepts a URL of 2048 characters, and refuses one more', () => {
  const url = 'https://93.184.215.14/'.padEnd(2048, 'a');
  expect(closed.checkUrl(url)).toBeUndefined();
  expect(closed.checkUrl(`${url}a`)).toEqual({ code: 'too_long', detail: 'must have at most 2048 characters' });
});

it('does not send a Host header of the caller', async () => {
  const request = closed.request({ ...limits, url: 'https://unknown.example/', headers: { Host: 'other.example' } });
  await expect(request).rejects.toMatchObject({ kind: 'request_refused', code: 'HOST_HEADER' });
});
