import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { developmentCertificates } from '@ticketing/testkit/development-certificates.ts';
import { measureMs } from '@ticketing/testkit/measure.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpServer } from '../server/http-server.ts';
import { openServiceTls } from './service-tls.ts';

const handshakeMs = 1_000;

test.each([false, true])(
  // guarantee: C19
  'a connection whose handshake is not completed stays open until it is late (HTTP/2: %s)',
  async (http2) => {
    const folder = mkdtempSync(join(tmpdir(), 'ticketing-tls-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { caFile, certFile, keyFile } = developmentCertificates(folder);
    const files = { caFile, certFile: certFile('tickets'), keyFile: keyFile('tickets'), clientCaFile: caFile };
    const tls = openServiceTls({ ...files, reloadMs: 60_000 }, createLogger('test', 'silent'), { handshakeMs });
    onTestFinished(() => tls.close());
    const app = createHttpServer({ http2, tls: tls.listener });
    await app.listen({ host: '127.0.0.1', port: 0 });
    onTestFinished(() => app.close());
    const { port } = app.server.address() as AddressInfo;
    const untilClosed = async (bytes: string) => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('error', () => undefined).resume();
      socket.write(bytes, 'latin1');
      await once(socket, 'close');
    };
    const times = await Promise.all(['', '\x16\x03\x01'].map((bytes) => measureMs(() => untilClosed(bytes))));
    expect(Math.min(...times)).toBeGreaterThan(0.9 * handshakeMs);
  },
);
