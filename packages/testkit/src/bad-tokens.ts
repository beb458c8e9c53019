import { createHmac, generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type TestIdentity, testCaller } from './test-identity.ts';

/**
 * Tokens that every service must refuse, each with its fault. `jwksFile` has the public keys of the issuer;
 * `otherService` is another service than the one to which the tokens are sent.
 */
export async function badTokens(
  identity: TestIdentity,
  jwksFile: string,
  otherService: string,
): Promise<[string, string][]> {
  const good = await identity.issuerToken();
  const claims = JSON.parse(Buffer.from(good.split('.')[1] ?? '', 'base64url').toString());
  const jwks = readFileSync(jwksFile, 'utf8');
  const { kid } = JSON.parse(jwks).keys[0];
  const otherKeys = generateKeyPairSync('ed25519');
  const signed = (header: object, payload: unknown, key = otherKeys.privateKey) => {
    const text = `${encode(header)}.${encode(payload)}`;
    return `${text}.${signBytes(null, Buffer.from(text), key).toString('base64url')}`;
  };
  const hmac = (header: object, payload: unknown, secret: string) => {
    const text = `${encode(header)}.${encode(payload)}`;
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  };
  const issued = identity.signIssuerToken;
  const now = Math.floor(Date.now() / 1000);
  return [
    ['no token at all', ''],
    ['not a token', 'abc.def.ghi'],
    ['alg none', `${encode({ alg: 'none' })}.${encode(claims)}.`],
    ['HS256 with the public key as secret', hmac({ alg: 'HS256', kid }, claims, jwks)],
    ['another key with the same kid', signed({ alg: 'EdDSA', kid }, claims)],
    ['its own jwk header', signed({ alg: 'EdDSA', jwk: otherKeys.publicKey.export({ format: 'jwk' }) }, claims)],
    ['its own jku header', signed({ alg: 'EdDSA', jku: 'http://127.0.0.1/jwks', kid: 'other' }, claims)],
    ['another issuer', await issued({ ...claims, iss: 'somebody' })],
    ['another audience', await issued({ ...claims, aud: 'somebody' })],
    ['another typ', await issued(claims, { typ: 'secevent+jwt' })],
    ['an exp in the past', await issued({ ...claims, exp: now - 60 })],
    ['no exp', await issued({ ...claims, exp: undefined })],
    ['an nbf in the future', await issued({ ...claims, nbf: now + 600 })],
    ['an iat in the future', await issued({ ...claims, iat: now + 600 })],
    ['an exp that is a string', await issued({ ...claims, exp: String(now + 600) })],
    ['no scope', await issued({ ...claims, scope: undefined })],
    ['another scope', await issued({ ...claims, scope: 'apis web' })],
    ['no kind', await issued({ ...claims, kind: undefined })],
    ['an unknown kind', await issued({ ...claims, kind: 'root' })],
    ['a subject that is not a profile id', await issued({ ...claims, sub: 'abc' })],
    ['subject 0', await issued({ ...claims, sub: '0' })],
    ['permissions that are not an array', await issued({ ...claims, permissions: 'deleteTicket' })],
    ['skills that are not numbers', await issued({ ...claims, skills: { tagIds: ['1'] } })],
    ['an array as its payload', signed({ alg: 'EdDSA', kid }, [claims])],
    ['9 KB', await issued({ ...claims, name: undefined, note: 'x'.repeat(9000) })],
    ['an internal token for another service', await identity.internalToken(otherService, testCaller())],
  ];
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
