import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { CompactSign, type JWTPayload, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayHarness, startHarness } from '../../test/harness.ts';
import { sendRaw } from '../../test/http-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'ticketing-tokens-'));
const keys = {
  EdDSA: generateKeyPairSync('ed25519'),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
};
const attacker = generateKeyPairSync('ed25519');
const now = () => Math.floor(Date.now() / 1000);
const good: JWTPayload = {
  iss: 'ticketing-development',
  aud: 'ticketing',
  sub: '7',
  exp: now() + 600,
  iat: now(),
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

/** Signs any value as the claims of a token. */
function sign(claims: unknown, header: object = {}, key: KeyObject | Uint8Array = keys.EdDSA.privateKey) {
  return new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'EdDSA', kid: 'EdDSA', typ: 'JWT', ...header })
    .sign(key, { crit: { novel: true } });
}

const withClaims = (claims: Record<string, unknown>) => sign({ ...good, ...claims });
const pem = () => new TextEncoder().encode(keys.RS256.publicKey.export({ type: 'spki', format: 'pem' }).toString());

const callWith = (authorization: string) => harness.callBare('GET', '/ticket/1', { headers: { authorization } });

// spec: 2.14
// asvs: 7.2.2
describe('accepts a token', () => {
  it.each([
    ['signed with EdDSA', () => sign(good)],
    ['signed with ES256', () => sign(good, { alg: 'ES256', kid: 'ES256' }, keys.ES256.privateKey)],
    ['signed with RS256', () => sign(good, { alg: 'RS256', kid: 'RS256' }, keys.RS256.privateKey)],
    ['of type at+jwt', () => sign(good, { typ: 'at+jwt' })],
    ['without a type', () => sign(good, { typ: undefined })],
    ['with several audiences', () => withClaims({ aud: ['other', 'ticketing'] })],
    ['that expired within the clock tolerance', () => withClaims({ exp: now() - 2 })],
  ])('%s', async (_, make) => {
    expect(await callWith(`Bearer ${await make()}`)).toMatchObject({ status: 200 });
  });
});

// spec: 37.1, 37.9
// guarantee: C1
// asvs: 6.8.2, 9.1.1, 10.3.1
describe('responds with 401 to a token', () => {
  it.each([
    ['without a signature (alg none)', async () => new UnsecuredJWT(good).encode()],
    ['whose signature is cut off', async () => `${(await sign(good)).split('.').slice(0, 2).join('.')}.`],
    ['with one bit flipped', async () => (await sign(good)).replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'))],
    ['signed with the public RSA key as a secret', () => sign(good, { alg: 'HS256', kid: 'RS256' }, pem())],
    [
      'signed with another algorithm of the key',
      () => sign(good, { alg: 'PS256', kid: 'RS256' }, keys.RS256.privateKey),
    ],
    // asvs: 9.1.3
    [
      'that contains its own key',
      () => sign(good, { jwk: attacker.publicKey.export({ format: 'jwk' }) }, attacker.privateKey),
    ],
    ['that refers to a key set', () => sign(good, { jku: `${harness.stub.url}/jwks`, kid: 'x' }, attacker.privateKey)],
    ['of an unknown key', () => sign(good, { kid: 'other' }, attacker.privateKey)],
    ['with an unknown critical header', () => sign(good, { crit: ['novel'], novel: true })],
    ['of another issuer', () => withClaims({ iss: 'other' })],
    ['for another audience', () => withClaims({ aud: 'other' })],
    ['without an audience', () => withClaims({ aud: undefined })],
    ['of another type', () => sign(good, { typ: 'logout+jwt' })],
    ['with a type that is a number', () => sign(good, { typ: 5 })],
    ['that has expired', () => withClaims({ exp: now() - 60 })],
    ['that never expires', () => withClaims({ exp: undefined })],
    ['that is not valid yet', () => withClaims({ nbf: now() + 60 })],
    ['without a time of issue', () => withClaims({ iat: undefined })],
    ['of a profile given as a number', () => withClaims({ sub: 7 })],
    ['that was issued in the future', () => withClaims({ iat: now() + 60 })],
    ['whose expiry is a text', () => withClaims({ exp: String(now() + 600) })],
    ['whose start is a text', () => withClaims({ nbf: 'soon' })],
    ['whose time of issue is a text', () => withClaims({ iat: 'now' })],
    ['whose claims are a list', () => sign([good])],
    ['without a kind', () => withClaims({ kind: undefined })],
    // spec: 37.8
    ['of an unknown kind', () => withClaims({ kind: 'admin' })],
    ['of the kind service', () => withClaims({ kind: 'service' })],
    ['of profile 0', () => withClaims({ sub: '0' })],
    ['of a profile that is not a number', () => withClaims({ sub: 'abc' })],
    ['of a profile beyond 32 bits', () => withClaims({ sub: '2147483648' })],
    ['without a profile', () => withClaims({ sub: undefined })],
    // spec: 37.3
    ['without the scope', () => withClaims({ scope: undefined })],
    ['with a list of scopes', () => withClaims({ scope: ['api'] })],
    ['with another scope', () => withClaims({ scope: 'apiary openid' })],
    ['whose role is a text', () => withClaims({ roleId: '1' })],
    ['whose rights are a text', () => withClaims({ permissions: 'deleteTicket' })],
    ['whose skills are not integers', () => withClaims({ skills: { tagIds: ['1'] } })],
    ['of 9 KB', () => withClaims({ padding: 'x'.repeat(9 * 1024) })],
    ['that is internal', () => harness.identity.internalToken('tickets', testCaller())],
    ['that is internal, for the gateway', () => harness.identity.internalToken('gateway', testCaller(), 'tickets')],
  ])('%s', async (_, make) => {
    const before = harness.stub.received.length;
    const response = await callWith(`Bearer ${await make()}`);
    expect(response.status).toBe(401);
    expect(response.json).toMatchObject({ code: 'invalid_token', status: 401, success: false });
    expect(response.headers['www-authenticate']).toBe('Bearer');
    expect(harness.stub.received.length).toBe(before);
  });
});

describe('a malformed or missing credential', () => {
  it.each(['', 'Bearer', 'Bearer a b', 'Basic dXNlcjpwYXNz', 'Token abc'])(
    '`%s` is refused with 401',
    async (header) => {
      expect((await callWith(header)).json).toMatchObject({ code: 'invalid_token' });
    },
  );

  // guarantee: C16
  it('several credentials are refused, even if each of them is valid', async () => {
    const [first, second] = [`Bearer ${await sign(good)}`, harness.bearer];
    const before = harness.stub.received.length;
    const response = await sendRaw(
      harness.gateway.ports.http,
      `GET /ticket/1 HTTP/1.1\r\nhost: a\r\nauthorization: ${first}\r\nauthorization: ${second}\r\n\r\n`,
    );
    expect(response).toMatch(/^HTTP\/1\.1 401 /);
    expect(response).toContain('"code":"invalid_token"');
    expect(harness.stub.received.length).toBe(before);
  });

  // spec: 39.12
  it('a missing credential is refused with 401, even on a path that does not exist', async () => {
    expect((await harness.callBare('GET', '/ticket/1')).json).toMatchObject({ code: 'missing_token' });
    expect((await harness.callBare('GET', '/nowhere')).status).toBe(401);
  });

  // guarantee: C3
  it('a credential beyond the limit of header sizes is refused with 431', async () => {
    const response = await sendRaw(
      harness.gateway.ports.http,
      `GET /ticket/1 HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${'x'.repeat(17 * 1024)}\r\n\r\n`,
    );
    expect(response).toMatch(/^HTTP\/1\.1 431 /);
    expect(response).toContain('"code":"headers_too_large"');
    expect(response).toContain('content-type: application/problem+json');
  });
});
