import { generateKeyPairSync, randomBytes } from 'node:crypto';

/** The private key of a service or an issuer, with which it signs tokens. */
export interface PrivateJwk {
  kid: string;
  d: string;
}

/** Makes a private key for EdDSA. `kid` is the name of the service, or of the issuer. */
export function makeSigningKey(kid: string): PrivateJwk {
  const { d = '', ...jwk } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return { ...jwk, d, kid, ...{ alg: 'EdDSA', use: 'sig' } };
}

/** The public part of a key. */
export function publicJwk({ d: _, ...jwk }: PrivateJwk): object {
  return jwk;
}

/** Makes a key with which a service encrypts the secrets that it stores. */
export function makeEncryptionKey(): string {
  return randomBytes(32).toString('base64');
}
