import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, type JWTPayload, SignJWT } from 'jose';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { accessTokenVerifier, cachedVerifier, type VerifiedToken } from './access-token.ts';
import { serviceCaller } from './caller.ts';
import type { KeySource } from './key-source.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const localKeys = createLocalJWKSet({ keys: [publicKey.export({ format: 'jwk' })] });
let lookups = 0;
const keys: KeySource = {
  algorithms: ['EdDSA'],
  key: (header, token) => {
    lookups += 1;
    return localKeys(header, token);
  },
  check: async () => undefined,
  close: () => undefined,
};
const options = { keys, issuer: 'i', audience: 'a', maxTokenLifetimeSeconds: 0 };
const verify = accessTokenVerifier(options);

const good = () => {
  const now = Math.floor(Date.now() / 1000);
  return { iss: 'i', aud: 'a', sub: '7', kind: 'user', scope: 'api', iat: now, exp: now + 600 };
};
const sign = (claims: JWTPayload) =>
  new SignJWT({ ...good(), ...claims }).setProtectedHeader({ alg: 'EdDSA' }).sign(privateKey);

describe('a token', () => {
  // asvs: 10.3.3
  it('becomes the caller that its claims describe', async () => {
    const token = await sign({
      name: 'Ada Lovelace',
      firstName: 'Ada',
      lastName: 'Lovelace',
      email: 'ada@example.org',
      roleId: 2,
      permissions: ['deleteTicket'],
      teams: [1, 2],
      skills: { tagIds: [3], excludedTagIds: [4], restricted: true },
      unknown: 'ignored',
    });
    expect((await verify(token)).caller).toEqual({
      kind: 'user',
      profileId: 7,
      service: null,
      name: 'Ada Lovelace',
      firstName: 'Ada',
      lastName: 'Lovelace',
      email: 'ada@example.org',
      roleId: 2,
      permissions: ['deleteTicket'],
      teams: [1, 2],
      skills: { tagIds: [3], excludedTagIds: [4], restricted: true },
      expiresAt: decodeJwt(token).exp,
    });
  });

  it('leaves properties empty for claims that are missing or null', async () => {
    const empty = { name: null, email: null, roleId: null, permissions: [], teams: [], profileId: 7 };
    const skills = { tagIds: [], excludedTagIds: [], restricted: false };
    expect((await verify(await sign({}))).caller).toMatchObject({ ...empty, skills });
    const nulls = { name: null, roleId: null, permissions: null, teams: null, skills: null };
    expect((await verify(await sign(nulls))).caller).toMatchObject({ ...empty, skills });
  });

  it.each([
    { sub: '07' },
    { sub: '-1' },
    { sub: '1.0' },
    { sub: 7 },
    { sub: '2147483648' },
    { sub: ['7'] },
    { iat: undefined },
    { iat: null },
    { name: 5 },
    { email: 'x'.repeat(321) },
    { roleId: 1.5 },
    { permissions: [1] },
    { permissions: Array(1001).fill('x') },
    { teams: ['1'] },
    { skills: 'all' },
    { skills: { restricted: 'yes' } },
    { scope: 5 },
    { scope: ['api'] },
    { scope: 'apis' },
    { scope: { api: true } },
  ])('with the claims %j is refused', async (claims) => {
    await expect(verify(await sign(claims as JWTPayload))).rejects.toMatchObject({ reason: 'invalid_token' });
  });
});

describe('the time of issue', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('may be 5 seconds ahead of the clock, and not 6', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 });
    expect((await verify(await sign({ iat: 1_800_000_005 }))).caller.profileId).toBe(7);
    await expect(verify(await sign({ iat: 1_800_000_006 }))).rejects.toMatchObject({ reason: 'invalid_token' });
  });
});

describe('the longest lifetime', () => {
  const limited = accessTokenVerifier({ ...options, maxTokenLifetimeSeconds: 900 });
  const { iat } = good();

  // asvs: 7.3.2
  it('is that from the issue to the expiry of a token; one that is valid for longer is refused', async () => {
    expect((await limited(await sign({ iat, exp: iat + 900 }))).caller.profileId).toBe(7);
    await expect(limited(await sign({ iat, exp: iat + 901 }))).rejects.toMatchObject({ reason: 'invalid_token' });
    const nearlyExpired = { iat: iat - 10_000, exp: iat + 60 };
    await expect(limited(await sign(nearlyExpired))).rejects.toMatchObject({ reason: 'invalid_token' });
  });

  it('is unlimited if it is 0', async () => {
    expect((await verify(await sign({ iat: 0, exp: iat + 10_000_000 }))).caller.profileId).toBe(7);
  });
});

describe('the result of a verification', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it('is cached for a minute, so that the caller is the same object', async () => {
    let elapsedMs = 1_000;
    vi.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
    const token = await sign({ jti: 'cached' });
    const before = lookups;
    const { caller } = await verify(token);
    elapsedMs += 60_000;
    expect((await verify(token)).caller).toBe(caller);
    expect(lookups).toBe(before + 1);
    elapsedMs += 1;
    expect((await verify(token)).caller).not.toBe(caller);
    expect(lookups).toBe(before + 2);
  });

  // asvs: 7.3.2, 7.4.1, 7.6.1, 9.2.1
  it('is not used after the token has expired', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const token = await sign({ exp: Math.floor(Date.now() / 1000) + 10 });
    await verify(token);
    vi.setSystemTime(Date.now() + 16_000);
    await expect(verify(token)).rejects.toMatchObject({ reason: 'invalid_token' });
  });

  it('is cached for 8 MiB of tokens', async () => {
    const attempt = vi.fn(async () => ({ caller: serviceCaller('x'), expiresAt: Number.POSITIVE_INFINITY }));
    const cached = cachedVerifier(attempt);
    const tokens = Array.from({ length: 1024 }, (_, nth) => String(nth).padEnd(8192));
    for (const token of tokens) await cached(token);
    await cached(tokens[0] ?? '');
    expect(attempt).toHaveBeenCalledTimes(1024);
    await cached('one more');
    await cached(tokens[0] ?? '');
    expect(attempt).toHaveBeenCalledTimes(1025);
    await cached(tokens[1] ?? '');
    expect(attempt).toHaveBeenCalledTimes(1026);
  });

  // asvs: 16.5.3
  it('is not cached when the verification itself fails', async () => {
    const good: VerifiedToken = { caller: serviceCaller('x'), expiresAt: Number.POSITIVE_INFINITY };
    const attempt = vi.fn(async () => good).mockRejectedValueOnce(new Error('the issuer is unavailable'));
    const cached = cachedVerifier(attempt);
    await expect(cached('t')).rejects.toThrow('the issuer is unavailable');
    expect(await cached('t')).toBe(good);
  });
});

// asvs: 9.1.2
it('a token that names no key is verified with every key that fits its algorithm', async () => {
  const pairs = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
  const published = pairs.map((pair, index) => ({ ...pair.publicKey.export({ format: 'jwk' }), kid: `k${index}` }));
  const both = accessTokenVerifier({ ...options, keys: { ...keys, key: createLocalJWKSet({ keys: published }) } });
  const signedBy = (key: KeyObject) => new SignJWT(good()).setProtectedHeader({ alg: 'EdDSA' }).sign(key);
  for (const pair of pairs) expect((await both(await signedBy(pair.privateKey))).caller.profileId).toBe(7);
  await expect(both(await signedBy(privateKey))).rejects.toMatchObject({ reason: 'invalid_token' });
});
