import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { Runtime } from '@ticketing/runtime/runtime.ts';

/** A text that is encrypted with AES-256-GCM. Shape: all members but `keyId` in base64. */
export interface SealedText {
  /** Names the key without revealing it. */
  keyId: string;
  iv: string;
  tag: string;
  data: string;
}

/** Encrypts and decrypts secrets. */
export interface SecretBox {
  /** Encrypts a text with the current key. `boundTo` names what it belongs to: with another name it is not decrypted. */
  seal(text: string, boundTo: string): SealedText;
  /** Errors: an Error if the key is unknown, or the text was changed or is bound to another name. */
  open(sealed: SealedText, boundTo: string): string;
  /** Whether a text is encrypted with another key than the current one. */
  isOld(sealed: SealedText): boolean;
}

const cipher = 'aes-256-gcm';
const ivBytes = 12;

/** Opens a box with keys, the current one first. Source: docs/services/settings.md, Secrets. */
export function secretBox(keys: readonly Buffer[], { randomBytes }: Pick<Runtime, 'randomBytes'>): SecretBox {
  const byId = new Map(keys.map((key) => [hashKey(key), key]));
  const [current] = byId.entries();
  if (!current) throw new Error('There is no key for secrets.');
  const [currentId, currentKey] = current;
  return {
    seal(text, boundTo) {
      const iv = randomBytes(ivBytes);
      const encryption = createCipheriv(cipher, currentKey, iv).setAAD(Buffer.from(boundTo));
      const data = Buffer.concat([encryption.update(text, 'utf8'), encryption.final()]);
      return {
        keyId: currentId,
        iv: iv.toString('base64'),
        tag: encryption.getAuthTag().toString('base64'),
        data: data.toString('base64'),
      };
    },
    open({ keyId, iv, tag, data }, boundTo) {
      const key = byId.get(keyId);
      if (!key) throw new Error(`A secret was encrypted with the key ${keyId}, which is not configured.`);
      const decryption = createDecipheriv(cipher, key, Buffer.from(iv, 'base64'), { authTagLength: 16 });
      decryption.setAAD(Buffer.from(boundTo)).setAuthTag(Buffer.from(tag, 'base64'));
      return Buffer.concat([decryption.update(Buffer.from(data, 'base64')), decryption.final()]).toString('utf8');
    },
    isOld: ({ keyId }) => keyId !== currentId,
  };
}

function hashKey(key: Buffer): string {
  return createHash('sha256').update('key id').update(key).digest('hex').slice(0, 12);
}
