import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { services } from '@ticketing/system/services.ts';
import { makeEncryptionKey, makeSigningKey, type PrivateJwk, publicJwk } from './service-keys.ts';

/** The key files of a development system. */
export interface DevelopmentKeys {
  /** The folder of the system's data, which has the folder of the keys. */
  dataDir: string;
  /** The private key of the issuer, with which `npm run token` signs. */
  issuerKeyFile: string;
  /** The public key of the issuer. */
  issuerJwksFile: string;
  /** The public keys of all services. */
  internalJwksFile: string;
  /** The private key of a service. */
  signingKeyFile(service: string): string;
  /** The key with which the settings service encrypts secrets. */
  encryptionKey: string;
}

const issuerKeyName = 'issuer.jwk.json';

/** The issuer of a development system's tokens, and their audience. */
export const developmentIssuer = { issuer: 'ticketing-development', audience: 'ticketing' };

/**
 * Creates the missing keys of a development system in `<data>/keys`, and returns the paths of all.
 *
 * Several processes may do so at once: the first one to create a file wins, and all derive the same public sets from it.
 */
export function developmentKeys(dataDir: string): DevelopmentKeys {
  const folder = join(dataDir, 'keys');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const keys: DevelopmentKeys = {
    dataDir,
    issuerKeyFile: join(folder, issuerKeyName),
    issuerJwksFile: join(folder, 'issuer.jwks.json'),
    internalJwksFile: join(folder, 'internal.jwks.json'),
    signingKeyFile: (service) => join(folder, `${service}.jwk.json`),
    encryptionKey: readOrMake(join(folder, 'encryption.key'), makeEncryptionKey),
  };
  publish(keys.issuerJwksFile, [makeKey(keys.issuerKeyFile, developmentIssuer.issuer)]);
  publish(
    keys.internalJwksFile,
    services.map(({ name }) => makeKey(keys.signingKeyFile(name), name)),
  );
  return keys;
}

/** Returns the key files of a development system that was started before. Errors: an Error, if the folder has none. */
export function existingKeys(dataDir: string): DevelopmentKeys {
  if (!existsSync(join(dataDir, 'keys', issuerKeyName))) {
    throw new Error(`${dataDir} has no keys of a system; start one by npm start, or name its folder by --data.`);
  }
  return developmentKeys(dataDir);
}

/** Creates a private key, unless the file exists, and returns the public key. */
function makeKey(file: string, kid: string): object {
  const text = readOrMake(file, () => JSON.stringify(makeSigningKey(kid)));
  return publicJwk(JSON.parse(text) as PrivateJwk);
}

/** The text of a file, which is made if it does not exist. */
function readOrMake(file: string, make: () => string): string {
  const existing = readIfExists(file);
  if (existing !== undefined) return existing;
  writeOnce(file, make());
  return readFileSync(file, 'utf8');
}

function publish(file: string, keys: object[]): void {
  const text = JSON.stringify({ keys });
  if (readIfExists(file) === text) return;
  const draft = writeDraft(file, text);
  renameSync(draft, file);
}

function writeOnce(file: string, text: string): void {
  const draft = writeDraft(file, text);
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft);
  }
}

function writeDraft(file: string, text: string): string {
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, text, { mode: 0o600 });
  return draft;
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
