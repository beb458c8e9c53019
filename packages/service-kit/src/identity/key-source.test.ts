import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FlattenedJWSInput, jwtVerify, SignJWT } from 'jose';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fileKeySource, type KeySource, secretKeySource, urlKeySource } from './key-source.ts';

const unusedToken: FlattenedJWSInput = { signature: '', payload: '' };

/** A private key with its id, and the public key that the issuer publishes. */
function makeKey(kid: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { privateKey, kid, published: { ...publicKey.export({ format: 'jwk' }), kid } };
}

const signAndVerify = async (source: KeySource, { privateKey, kid }: ReturnType<typeof makeKey>) => {
  const token = await new SignJWT({}).setProtectedHeader({ alg: 'EdDSA', kid }).sign(privateKey);
  return jwtVerify(token, source.key, { algorithms: [...source.algorithms] });
};

describe('a key set at a URL', () => {
  const first = makeKey('first');
  const second = makeKey('second');
  let issuer: Server;
  let source: KeySource | undefined;
  let published: object[];
  let fetches: number;
  let clock: number;

  beforeEach(async () => {
    [published, fetches, clock] = [[first.published], 0, 0];
    issuer = createServer((_, response) => {
      fetches += 1;
      response.writeHead(published.length > 0 ? 200 : 500).end(JSON.stringify({ keys: published }));
    });
    issuer.listen(0, '127.0.0.1');
    await once(issuer, 'listening');
  });

  afterEach(() => {
    source?.close();
    issuer.close();
    issuer.closeAllConnections();
  });

  const open = () => {
    source = urlKeySource(
      `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`,
      pino({ level: 'silent' }),
      () => clock,
    );
    return source;
  };

  it('accepts all tokens of a new key that arrive while the keys are being fetched', async () => {
    const keys = open();
    await signAndVerify(keys, first);
    published = [first.published, second.published];
    clock += 60_000;
    await Promise.all(Array.from({ length: 5 }, () => signAndVerify(keys, second)));
    expect(fetches).toBe(2);
  });

  it('is fetched once for many tokens', async () => {
    const keys = open();
    await Promise.all([signAndVerify(keys, first), signAndVerify(keys, first), keys.check()]);
    await signAndVerify(keys, first);
    expect(fetches).toBe(1);
  });

  it('is fetched again for an unknown key, at most every 30 seconds', async () => {
    const keys = open();
    await keys.check();
    published = [first.published, second.published];
    clock += 29_999;
    await expect(signAndVerify(keys, second)).rejects.toThrow(/no applicable key/);
    expect(fetches).toBe(1);
    clock += 1;
    await signAndVerify(keys, second);
    expect(fetches).toBe(2);
    await expect(signAndVerify(keys, makeKey('third'))).rejects.toThrow(/no applicable key/);
    expect(fetches).toBe(2);
  });

  // asvs: 7.4.5
  it('no longer accepts a key that the issuer has withdrawn', async () => {
    const keys = open();
    await keys.check();
    published = [second.published];
    clock += 30_000;
    await signAndVerify(keys, second);
    await expect(signAndVerify(keys, first)).rejects.toThrow(/no applicable key/);
  });

  it('is still used while the issuer is unavailable', async () => {
    const keys = open();
    await keys.check();
    published = [];
    clock += 30_000;
    await expect(signAndVerify(keys, second)).rejects.toThrow(/no applicable key/);
    expect(fetches).toBe(2);
    await signAndVerify(keys, first);
    await keys.check();
  });

  it('is fetched at most once a second as long as no fetch has succeeded', async () => {
    published = [];
    const keys = open();
    const missing = { code: 'unavailable', reason: 'issuer_unavailable', retryAfterSeconds: 1 };
    await expect(keys.check()).rejects.toMatchObject(missing);
    await expect(keys.check()).rejects.toMatchObject(missing);
    expect(fetches).toBe(1);
    published = [first.published];
    clock += 1_000;
    await signAndVerify(keys, first);
    expect(fetches).toBe(2);
  });

  // asvs: 9.1.3
  it('is not fetched through a redirect', async () => {
    issuer.removeAllListeners('request');
    issuer.on('request', (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end());
    await expect(open().check()).rejects.toMatchObject({ reason: 'issuer_unavailable' });
  });

  it('is fetched again every 5 minutes', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const keys = open();
    await keys.check();
    published = [second.published];
    vi.advanceTimersByTime(300_000);
    vi.useRealTimers();
    await vi.waitFor(() => signAndVerify(keys, second), { timeout: 30_000 });
    await expect(signAndVerify(keys, first)).rejects.toThrow(/no applicable key/);
  });
});

describe('a key set in a file', () => {
  it.each([
    ['text that is not JSON', 'x', 'is not valid JSON'],
    ['another structure', '[]', 'is not a key set'],
    ['no keys', '{"keys":[]}', 'has no keys'],
    [
      'a private key',
      JSON.stringify({ keys: [generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })] }),
      'public keys only',
    ],
    ['a secret', '{"keys":[{"kty":"oct","k":"AAAA"}]}', 'public keys only'],
  ])('is refused if the file contains %s', (_, text, problem) => {
    const folder = mkdtempSync(join(tmpdir(), 'ticketing-keys-'));
    const file = join(folder, 'jwks.json');
    writeFileSync(file, text);
    expect(() => fileKeySource(file)).toThrow(problem);
    rmSync(folder, { recursive: true });
  });
});

// guarantee: C9
it('accepts a secret of 32 bytes, and refuses a shorter one', async () => {
  expect(await secretKeySource('ü'.repeat(16)).key({ alg: 'HS256' }, unusedToken)).toHaveLength(32);
  expect(() => secretKeySource('x'.repeat(31))).toThrow('shorter');
});
