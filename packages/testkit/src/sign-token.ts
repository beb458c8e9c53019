import { readFileSync } from 'node:fs';
import { importJWK, type JWK, SignJWT } from 'jose';
import { developmentIssuer } from './development-keys.ts';

/** The claims of a development token about its profile, as in docs/reference/api.md, Credentials. */
export interface TokenClaims {
  sub: string;
  kind: string;
  roleId: number;
  permissions?: readonly string[];
  teams?: readonly number[];
  skills?: { tagIds: readonly number[]; excludedTagIds: readonly number[]; restricted: boolean };
  name?: string;
  firstName?: string;
  lastName?: string;
  email?: string;
}

/** Signs a token as the issuer of a development system. */
export function signToken(issuerKeyFile: string, claims: TokenClaims, lifetimeSeconds: number): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const registered = { iss: developmentIssuer.issuer, aud: developmentIssuer.audience, iat: now };
  return signClaims(issuerKeyFile, { ...claims, scope: 'api', ...registered, exp: now + lifetimeSeconds });
}

/** Signs a token with exactly these claims with the key of the issuer. */
export async function signClaims(
  issuerKeyFile: string,
  claims: object,
  header: object = { typ: 'JWT' },
): Promise<string> {
  const jwk = JSON.parse(readFileSync(issuerKeyFile, 'utf8')) as JWK;
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'EdDSA', ...header, ...(jwk.kid === undefined ? {} : { kid: jwk.kid }) })
    .sign(await importJWK(jwk, 'EdDSA'));
}
