import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { VerifyToken } from './access-token.ts';
import { type Caller, serviceCaller } from './caller.ts';
import { internalTokens, internalTokenVerifier } from './internal-token.ts';
import { fileKeySource } from './key-source.ts';

const folder = mkdtempSync(join(tmpdir(), 'ticketing-internal-'));
const keyOf: Record<string, KeyObject> = {};
const toFile = (service: string) => join(folder, `${service}.json`);
const user: Caller = {
  ...serviceCaller('x'),
  kind: 'user',
  service: null,
  name: 'Ada',
  profileId: 7,
  roleId: 2,
  expiresAt: 1_900_000_000,
};
let verify: VerifyToken;

beforeAll(() => {
  const published = ['gateway', 'intents', 'knowledge', 'tickets'].map((kid) => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    keyOf[kid] = privateKey;
    writeFileSync(toFile(kid), JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid }));
    return { ...publicKey.export({ format: 'jwk' }), kid };
  });
  writeFileSync(toFile('all'), JSON.stringify({ keys: published }));
  verify = internalTokenVerifier(fileKeySource(toFile('all')), 'tickets');
});

afterEach(() => vi.restoreAllMocks());
afterAll(() => rmSync(folder, { recursive: true }));

describe('an internal token', () => {
  it('names the caller that it was minted for', async () => {
    const tokens = await internalTokens('gateway', toFile('gateway'));
    expect((await verify(await tokens.mint('tickets', user))).caller).toEqual(user);
  });

  it('names the service that minted it when there is no caller', async () => {
    const tokens = await internalTokens('intents', toFile('intents'));
    expect((await verify(await tokens.mint('tickets'))).caller).toEqual(serviceCaller('intents'));
  });

  // guarantee: C14
  it('is used again for 25 of its 60 seconds, for the same caller and audience', async () => {
    let elapsedMs = 1_000;
    vi.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
    const tokens = await internalTokens('gateway', toFile('gateway'));
    const token = await tokens.mint('tickets', user);
    const { iat = 0, exp = 0 } = decodeJwt(token);
    expect(exp - iat).toBe(60);
    elapsedMs += 25_000;
    expect(await tokens.mint('tickets', user)).toBe(token);
    expect(await tokens.mint('intents', user)).not.toBe(token);
    const signed = vi.spyOn(SignJWT.prototype, 'sign');
    await tokens.mint('tickets', { ...user });
    expect(signed).toHaveBeenCalledTimes(1);
    elapsedMs += 1;
    await tokens.mint('tickets', user);
    expect(signed).toHaveBeenCalledTimes(2);
  });

  it('is used again and verified again without a timer, which would wake the process', async () => {
    const tokens = await internalTokens('gateway', toFile('gateway'));
    await verify(await tokens.mint('tickets', user));
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    await verify(await tokens.mint('tickets', user));
    expect(setTimer).not.toHaveBeenCalled();
  });
});

describe('a token is refused', () => {
  const sign = (kid: string, claims: object, header: object = {}, key = keyOf[kid]) => {
    if (!key) throw new Error(`there is no key ${kid}`);
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({ caller: user, iss: kid, aud: 'tickets', iat: now, exp: now + 60, ...claims })
      .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'internal+jwt', ...header })
      .sign(key);
  };

  it.each([
    ['for another audience', () => sign('gateway', { aud: 'intents' })],
    ['in the name of another service', () => sign('intents', { iss: 'gateway' })],
    ['with the key of another service', () => sign('gateway', {}, {}, keyOf.intents)],
    ['of another type', () => sign('gateway', {}, { typ: 'JWT' })],
    ['without a type', () => sign('gateway', {}, { typ: undefined })],
    ['without an expiry time', () => sign('gateway', { exp: undefined })],
    ['that has expired', () => sign('gateway', { exp: Date.now() / 1000 - 10 })],
    ['that has expired 6 seconds ago', () => sign('gateway', { exp: Math.floor(Date.now() / 1000) - 6 })],
    ['without a time of issue', () => sign('gateway', { iat: undefined })],
    ['whose time of issue is a text', () => sign('gateway', { iat: 'now' })],
    ['that was issued in the future', () => sign('gateway', { iat: Math.floor(Date.now() / 1000) + 60 })],
    ['whose caller claims to be a service', () => sign('gateway', { caller: serviceCaller('tickets') })],
    ['whose caller expires at a text', () => sign('gateway', { caller: { ...user, expiresAt: 'never' } })],
    // guarantee: C12
    ['of a service that does not call this one', () => sign('tickets', { caller: undefined })],
    // guarantee: C12
    ['whose caller has expired', () => sign('gateway', { caller: { ...user, expiresAt: 5 } })],
    [
      'whose caller has expired 45 seconds ago',
      () => sign('gateway', { caller: { ...user, expiresAt: Math.floor(Date.now() / 1000) - 45 } }),
    ],
    ['without a key id', () => sign('gateway', {}, { kid: undefined })],
    ['that is not a JWT', async () => 'x.y.z'],
  ])('%s', async (_, makeToken) => {
    await expect(verify(await makeToken())).rejects.toMatchObject({ reason: 'invalid_token' });
  });
});

// guarantee: C12
it('ignores a caller that a service names which forwards none: the service itself calls', async () => {
  const tokens = await internalTokens('knowledge', toFile('knowledge'));
  expect((await verify(await tokens.mint('tickets', user))).caller).toEqual(serviceCaller('knowledge'));
});

describe('the expiry of a caller', () => {
  it('may have passed 30 seconds ago, because a request goes on that began before', async () => {
    const now = Math.floor(Date.now() / 1000);
    const caller = { ...user, expiresAt: now - 30 };
    const tokens = await internalTokens('gateway', toFile('gateway'));
    expect((await verify(await tokens.mint('tickets', caller))).caller).toEqual(caller);
  });

  it('is not extended by the cache of verifications', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const tokens = await internalTokens('gateway', toFile('gateway'));
    const token = await tokens.mint('tickets', { ...user, expiresAt: Math.floor(Date.now() / 1000) - 20 });
    await verify(token);
    vi.setSystemTime(Date.now() + 26_000);
    await expect(verify(token)).rejects.toMatchObject({ reason: 'invalid_token' });
    vi.useRealTimers();
  });

  it.each([
    ['that is not in its token, as another version sends it', undefined],
    ['that is null', null],
  ])('%s, is that of the internal token', async (_, expiresAt) => {
    const now = Math.floor(Date.now() / 1000);
    const token = await new SignJWT({
      caller: { ...user, expiresAt },
      iss: 'gateway',
      aud: 'tickets',
      iat: now,
      exp: now + 30,
    })
      .setProtectedHeader({ alg: 'EdDSA', kid: 'gateway', typ: 'internal+jwt' })
      .sign(keyOf.gateway as KeyObject);
    expect((await verify(token)).caller.expiresAt).toBe(now + 30);
  });
});

describe('the age of a token', () => {
  const issuedAt = 1_800_000_000;
  const setAge = (seconds: number) => vi.setSystemTime((issuedAt + seconds) * 1000);
  const sign = (lifetime = 3600) =>
    new SignJWT({ caller: user, iss: 'gateway', aud: 'tickets', iat: issuedAt, exp: issuedAt + lifetime })
      .setProtectedHeader({ alg: 'EdDSA', kid: 'gateway', typ: 'internal+jwt' })
      .sign(keyOf.gateway as KeyObject);

  afterEach(() => {
    vi.useRealTimers();
  });

  // guarantee: C14
  // asvs: 9.2.1, 13.2.1
  it('is at most 60 seconds and 5 of tolerance, even if it expires later', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    setAge(65);
    expect((await verify(await sign())).caller).toEqual(user);
    setAge(66);
    await expect(verify(await sign())).rejects.toMatchObject({ reason: 'invalid_token' });
  });

  // guarantee: F39
  it('may be 15 seconds less than none, because the clocks of two hosts differ by up to 10 s', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    // Another token than that of other tests, whose verification is remembered.
    const token = await sign(60);
    setAge(-16);
    await expect(verify(token)).rejects.toMatchObject({ reason: 'invalid_token' });
    setAge(-15);
    expect((await verify(token)).caller).toEqual(user);
  });

  it('is not extended by the cache of verifications', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    setAge(59);
    const token = await sign();
    await verify(token);
    setAge(66);
    await expect(verify(token)).rejects.toMatchObject({ reason: 'invalid_token' });
  });

  it('is at most 25 seconds when its service sends it, so that no request outlives it', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    let elapsedMs = 1_000;
    vi.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
    setAge(0);
    const tokens = await internalTokens('gateway', toFile('gateway'));
    await tokens.mint('tickets', user);
    setAge(26);
    elapsedMs += 26_000;
    const ageOfNext = async () => 26 - ((decodeJwt(await tokens.mint('tickets', user)).iat ?? 0) - issuedAt);
    expect(await ageOfNext()).toBe(0);
  });
});

// asvs: 11.6.1
it('refuses to mint tokens with the key of another service', async () => {
  await expect(internalTokens('tickets', toFile('gateway'))).rejects.toThrow('is not the signing key of tickets');
});

describe('the caller of an internal token', () => {
  const signed = (caller: unknown) =>
    new SignJWT({ caller })
      .setProtectedHeader({ alg: 'EdDSA', kid: 'gateway', typ: 'internal+jwt' })
      .setIssuer('gateway')
      .setAudience('tickets')
      .setIssuedAt()
      .setExpirationTime('60s')
      .sign(keyOf.gateway as KeyObject);

  it.each([
    ['a text', 'x'],
    ['null', null],
    ['a service', { ...user, kind: 'service' }],
    ['without a kind', { ...user, kind: undefined }],
    ['without a profile', { ...user, profileId: null }],
    ['with permissions that are not a list', { ...user, permissions: 'all' }],
    ['with malformed skills', { ...user, skills: { tagIds: 'x' } }],
  ])('is refused if it is %s', async (_, caller) => {
    await expect(verify(await signed(caller))).rejects.toMatchObject({ reason: 'invalid_token' });
  });

  it('may have more permissions than fit into 8 KB, up to 12 KB', async () => {
    const permissions = Array.from({ length: 300 }, (_, index) => `permission${index}`.padEnd(22, 'x'));
    const token = await signed({ ...user, permissions });
    expect(token.length).toBeGreaterThan(8192);
    expect((await verify(token)).caller.permissions).toHaveLength(300);
    await expect(
      verify(await signed({ ...user, permissions: [...permissions, ...permissions] })),
    ).rejects.toMatchObject({
      reason: 'invalid_token',
    });
  });
});
