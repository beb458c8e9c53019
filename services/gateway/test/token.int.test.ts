import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { CompactSign, type JWTPayload, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayHarness, startHarness } from './harness.ts';
import { sendRaw } from './http-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'ticketing-tokens-'));
const keys = {
  EdDSA: generateKeyPairSync('ed25519'),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
};
const attacker = generateKeyPairSync('ed25519');
const now = Math.floor(Date.now() / 1000);
const good: JWTPayload = {
  iss: 'ticketing-development',
  aud: 'ticketing',
  sub: '7',
  exp: now + 600,
  iat: now,
  kind: 'user',
  scope: 'openid api',
};

let harness: GatewayHarness;

beforeAll(async () => {
  const jwksFile = join(folder, 'jwks.json');
  const published = Object.entries(keys).map(([kid, { publicKey }]) => ({
    ...publicKey.export({ format: 'jwk' }),
    kid,
  }));
  writeFileSync(jwksFile, JSON.stringify({ keys: published }));
  harness = await startHarness({ JWKS_FILE: jwksFile });
});

afterAll(async () => {
  await harness.stop();
  rmSync(folder, { recursive: true });
});

/** Signs anything as if it were the claims of a token. */
function sign(claims: unknown, header: object = {}, key: KeyObject | Uint8Array = keys.EdDSA.privateKey) {
  return new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'EdDSA', kid: 'EdDSA', typ: 'JWT', ...header })
    .sign(key, { crit: { novel: true } });
}

const but = (claims: Record<string, unknown>) => sign({ ...good, ...claims });
const pem = () => new TextEncoder().encode(keys.RS256.publicKey.export({ type: 'spki', format: 'pem' }).toString());

const callWith = (authorization: string) => harness.callBare('GET', '/ticket/1', { headers: { authorization } });

describe('lets a token in', () => {
  it.each([
    ['signed with EdDSA', () => sign(good)],
    ['signed with ES256', () => sign(good, { alg: 'ES256', kid: 'ES256' }, keys.ES256.privateKey)],
    ['signed with RS256', () => sign(good, { alg: 'RS256', kid: 'RS256' }, keys.RS256.privateKey)],
    ['of type at+jwt', () => sign(good, { typ: 'at+jwt' })],
    ['without a type', () => sign(good, { typ: undefined })],
    ['with several audiences', () => but({ aud: ['other', 'ticketing'] })],
    ['with a list of scopes', () => but({ scope: ['api'] })],
    ['that expired within the tolerance of clocks', () => but({ exp: now - 2 })],
  ])('%s', async (_, make) => {
    expect(await callWith(`Bearer ${await make()}`)).toMatchObject({ status: 200 });
  });
});

describe('answers 401 to a token', () => {
  it.each([
    ['without a signature (alg none)', async () => new UnsecuredJWT(good).encode()],
    ['whose signature is cut off', async () => `${(await sign(good)).split('.').slice(0, 2).join('.')}.`],
    ['with one bit flipped', async () => (await sign(good)).replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'))],
    ['signed with the public RSA key as a secret', () => sign(good, { alg: 'HS256', kid: 'RS256' }, pem())],
    [
      'signed with another algorithm of the key',
      () => sign(good, { alg: 'PS256', kid: 'RS256' }, keys.RS256.privateKey),
    ],
    [
      'that brings its own key',
      () => sign(good, { jwk: attacker.publicKey.export({ format: 'jwk' }) }, attacker.privateKey),
    ],
    ['that names a key set', () => sign(good, { jku: `${harness.stub.url}/jwks`, kid: 'x' }, attacker.privateKey)],
    ['of an unknown key', () => sign(good, { kid: 'other' }, attacker.privateKey)],
    ['with a critical header that nobody knows', () => sign(good, { crit: ['novel'], novel: true })],
    ['of another issuer', () => but({ iss: 'other' })],
    ['for another audience', () => but({ aud: 'other' })],
    ['without an audience', () => but({ aud: undefined })],
    ['of another type', () => sign(good, { typ: 'logout+jwt' })],
    ['with a type that is a number', () => sign(good, { typ: 5 })],
    ['that has expired', () => but({ exp: now - 60 })],
    ['that never expires', () => but({ exp: undefined })],
    ['that is not valid yet', () => but({ nbf: now + 60 })],
    ['that was issued in the future', () => but({ iat: now + 60 })],
    ['whose end is a text', () => but({ exp: String(now + 600) })],
    ['whose begin is a text', () => but({ nbf: 'soon' })],
    ['whose time of issue is a text', () => but({ iat: 'now' })],
    ['whose claims are a list', () => sign([good])],
    ['without a kind', () => but({ kind: undefined })],
    ['of a kind that nobody knows', () => but({ kind: 'admin' })],
    ['that says to be a service', () => but({ kind: 'service' })],
    ['of profile 0', () => but({ sub: '0' })],
    ['of a profile that is no number', () => but({ sub: 'abc' })],
    ['of a profile beyond 32 bits', () => but({ sub: '2147483648' })],
    ['without a profile', () => but({ sub: undefined })],
    ['without the scope', () => but({ scope: undefined })],
    ['with another scope', () => but({ scope: 'apiary openid' })],
    ['whose role is a text', () => but({ roleId: '1' })],
    ['whose rights are a text', () => but({ permissions: 'deleteTicket' })],
    ['whose skills are not of integers', () => but({ skills: { tagIds: ['1'] } })],
    ['of 9 KB', () => but({ padding: 'x'.repeat(9 * 1024) })],
    ['that is internal', () => harness.identity.internalToken('tickets', testCaller())],
    ['that is internal, for the gateway', () => harness.identity.internalToken('gateway', testCaller(), 'tickets')],
  ])('%s', async (_, make) => {
    const before = harness.stub.received.length;
    const answer = await callWith(`Bearer ${await make()}`);
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({ code: 'invalid_token', status: 401, success: false });
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(harness.stub.received.length).toBe(before);
  });
});

describe('a credential in another form', () => {
  it.each(['', 'Bearer', 'Bearer a b', 'Basic dXNlcjpwYXNz', 'Token abc'])('`%s` is answered 401', async (header) => {
    expect((await callWith(header)).json).toMatchObject({ code: 'invalid_token' });
  });

  it('that is missing is answered 401, also on a path of no service', async () => {
    expect((await harness.callBare('GET', '/ticket/1')).json).toMatchObject({ code: 'missing_token' });
    expect((await harness.callBare('GET', '/nowhere')).status).toBe(401);
  });

  it('beyond the limit of headers is answered 431', async () => {
    const answer = await sendRaw(
      harness.gateway.ports.http,
      `GET /ticket/1 HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${'x'.repeat(17 * 1024)}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('"code":"headers_too_large"');
    expect(answer).toContain('content-type: application/problem+json');
  });
});
