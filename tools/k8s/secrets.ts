import type { StoreConfig } from '@ticketing/store/connection/store-config.ts';
import { services } from '@ticketing/system/services.ts';
import { makeEncryptionKey, makeSigningKey, publicJwk } from '@ticketing/testkit/service-keys.ts';

/** A Secret of Kubernetes. */
export interface Secret {
  apiVersion: 'v1';
  kind: 'Secret';
  metadata: { name: string };
  stringData: Record<string, string>;
}

/** The values that are not generated, but given. */
export interface GivenSecrets {
  /** The database of each service with a store, with the credentials in the URI. */
  stores: ReadonlyMap<string, StoreConfig>;
  /** The public keys of the issuer as a JWKS; undefined if they are read from a URL. */
  issuerKeys?: string | undefined;
}

/**
 * Makes the Secrets to which the manifests refer, with new keys: a signing key for each service, the public keys of all,
 * and for services that store secrets the key that encrypts them.
 */
export function makeSecrets({ stores, issuerKeys }: GivenSecrets): Secret[] {
  const own = services
    .filter(({ hasStore, keepsSecrets }) => hasStore || keepsSecrets)
    .map(({ name, keepsSecrets }) => {
      const store = stores.get(name);
      return secret(`${name}-secrets`, {
        ...(store ? { MONGODB_URI: store.mongodbUri } : {}),
        ...(keepsSecrets ? { ENCRYPTION_KEY: makeEncryptionKey() } : {}),
      });
    });
  return [
    ...makeSigningKeys(),
    ...own,
    ...(issuerKeys === undefined ? [] : [secret('issuer-keys', { 'jwks.json': issuerKeys })]),
  ];
}

/** Makes the Secrets with a signing key for each service, and with the public keys of all. */
export function makeSigningKeys(): Secret[] {
  const keys = services.map(({ name }) => makeSigningKey(name));
  return [
    ...keys.map((key) => secret(`${key.kid}-signing-key`, { 'key.json': JSON.stringify(key) })),
    secret('internal-keys', { 'jwks.json': JSON.stringify({ keys: keys.map(publicJwk) }) }),
  ];
}

function secret(name: string, stringData: Record<string, string>): Secret {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData };
}
