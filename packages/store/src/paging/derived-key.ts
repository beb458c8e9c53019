import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * Derives a key for one purpose from the signing key of a service. All replicas have that file, so they get the same key.
 *
 * Shape: 32 bytes.
 */
export function derivedKey(signingKeyFile: string, purpose: string): Buffer {
  return createHash('sha256').update(purpose).update(readFileSync(signingKeyFile)).digest();
}
