import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createServer } from 'node:tls';
import { createAuthority } from '@ticketing/testkit/certificate-authority.ts';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openDatabase } from '../src/connection/database.ts';

/** Puts TLS in front of the server of the tests. Returns its address. */
async function serveTls(options: { cert: string; key: string }): Promise<string> {
  const { hostname, port } = new URL(inject('mongodbUri'));
  const server = createServer(options, (socket) => {
    const plain = connect(Number(port || 27_017), hostname);
    pipeline(socket, plain, () => undefined);
    pipeline(plain, socket, () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `localhost:${(server.address() as AddressInfo).port}`;
}

// guarantee: C20
// asvs: 12.3.2
test('the options of the URI decide about TLS, and certificates are verified', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-mongodb-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const authority = createAuthority('Databases');
  const address = await serveTls(authority.issue(['localhost']));
  const open = (caFile: string, onUnreachable: (error: unknown) => void) => {
    const uri = `mongodb://${address}/?directConnection=true&tls=true&tlsCAFile=${encodeURIComponent(caFile)}`;
    return openDatabase(uri, `test_${randomUUID().slice(0, 8)}`, onUnreachable, { isSetUpHere: true, quietMs: 0 });
  };
  const strangerFile = join(folder, 'stranger.pem');
  writeFileSync(strangerFile, createAuthority('Stranger').cert);
  const refused = Promise.withResolvers<unknown>();
  const untrusting = open(strangerFile, refused.resolve);
  expect(String(await refused.promise)).toMatch(/unable to verify|self-signed/);
  await untrusting.close();

  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, authority.cert);
  const database = open(caFile, () => undefined);
  await database.opened;
  await database.check();
  await database.close();
});
