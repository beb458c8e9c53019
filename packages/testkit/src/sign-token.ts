import { readFileSync } from 'node:fs';
import { importJWK, type JWK, SignJWT } from 'jose';
import { developmentIssuer } from './development-keys.ts';

/** Whom a development token names, in the claims of decisions.md section 3. */
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
export async function signToken(issuerKeyFile: string, claims: TokenClaims, lifetimeSeconds: number): Promise<string> {
  const jwk = JSON.parse(readFileSync(issuerKeyFile, 'utf8')) as JWK;
  return new SignJWT({ ...claims, scope: 'api' })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', ...(jwk.kid === undefined ? {} : { kid: jwk.kid }) })
    .setIssuer(developmentIssuer.issuer)
    .setAudience(developmentIssuer.audience)
    .setIssuedAt()
    .setExpirationTime(`${lifetimeSeconds}s`)
    .sign(await importJWK(jwk, 'EdDSA'));
}
