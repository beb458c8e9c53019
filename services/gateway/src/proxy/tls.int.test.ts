import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { serviceNamed } from '@ticketing/system/services.ts';
import { createAuthority } from '@ticketing/testkit/certificate-authority.ts';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { startHarness } from '../../test/harness.ts';
import { startStub } from '../../test/stub-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'ticketing-gateway-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const authority = createAuthority('Test');
const stranger = createAuthority('Stranger');
const caFile = file('ca.pem', authority.cert);
const strangerFile = file('stranger.pem', stranger.cert);
const gateway = authority.issue(['gateway', '127.0.0.1']);
const own = { TLS_CERT_FILE: file('cert.pem', gateway.cert), TLS_KEY_FILE: file('key.pem', gateway.key) };

/** Starts a service that demands certificates, and a gateway in front of it that itself listens without TLS. */
async function startSecured(variables: Record<string, string>, names = ['127.0.0.1']) {
  const mutual = { ca: authority.cert, requestCert: true, rejectUnauthorized: true };
  const stub = await startStub(0, { ...authority.issue(names), ...mutual });
  const called = serviceNamed('gateway').calls.map((name) => [`${name.toUpperCase()}_URL`, 'https://127.0.0.1:1']);
  const harness = await startHarness({ ...Object.fromEntries(called), TICKETS_URL: stub.url, ...variables });
  onTestFinished(async () => {
    await harness.stop();
    await stub.close();
  });
  return { stub, harness };
}

/** Sends a GET to the public port of a gateway with TLS, on a new connection. */
async function get(port: number, path: string, options: https.RequestOptions) {
  const request = https.get({ port, host: '127.0.0.1', path, agent: false, ca: authority.cert, ...options });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response;
}

it('calls services over TLS and presents its certificate', async () => {
  const { stub, harness } = await startSecured({ ...own, TLS_CA_FILE: caFile });
  const presented: (string | undefined)[] = [];
  stub.next((request, response) => {
    presented.push((request.socket as TLSSocket).getPeerX509Certificate()?.subject);
    response.end();
  });
  const { statusCode } = await get(harness.gateway.ports.http, '/ticket/1', {
    headers: { authorization: harness.bearer },
  });
  expect({ statusCode, presented }).toEqual({ statusCode: 200, presented: ['CN=gateway'] });
});

it.each([
  ['another authority', { TLS_CA_FILE: strangerFile }, ['127.0.0.1']],
  ['no authority but those of Node', {}, ['127.0.0.1']],
  ['another name', { TLS_CA_FILE: caFile }, ['tickets.example']],
  // guarantee: C20
  // asvs: 12.3.4, 16.3.4
])('does not send a request to a service whose certificate is of %s: 503', async (_, variables, names) => {
  const { stub, harness } = await startSecured(variables, names);
  const response = await harness.call('POST', '/ticket', { body: '{}' });
  expect(response.json).toMatchObject({ status: 503, code: 'upstream_unavailable', instance: '/ticket' });
  expect(response.headers['retry-after']).toBe('1');
  expect(stub.received).toEqual([]);
});

it('trusts a service as soon as the file of authorities names its authority', async () => {
  const renewed = file('renewed.pem', stranger.cert);
  const { harness } = await startSecured({ ...own, TLS_CA_FILE: renewed, TLS_RELOAD_MS: '100' });
  const headers = { authorization: harness.bearer };
  const status = async () => (await get(harness.gateway.ports.http, '/ticket/1', { headers })).statusCode;
  expect(await status()).toBe(503);
  writeFileSync(renewed, authority.cert);
  await vi.waitFor(async () => expect(await status()).toBe(200), { timeout: 30_000, interval: 50 });
});

it('responds with 502 when a service refuses it for want of a certificate', async () => {
  const { stub, harness } = await startSecured({ TLS_CA_FILE: caFile });
  const response = await harness.call('GET', '/ticket/1');
  expect(response.json).toMatchObject({ status: 502, code: 'upstream_failed' });
  expect(stub.received).toEqual([]);
});

it('responds with 503 when the service does not speak TLS', async () => {
  const plain = await startStub();
  const { harness } = await startSecured({ TLS_CA_FILE: caFile, TICKETS_URL: plain.url.replace('http:', 'https:') });
  expect((await harness.call('GET', '/ticket/1')).json).toMatchObject({ status: 503, code: 'upstream_unavailable' });
  await plain.close();
});

it('does not demand certificates of its clients, unless authorities for them are named', async () => {
  const open = await startHarness(own);
  const demanding = await startHarness({ ...own, TLS_CLIENT_CA_FILE: caFile });
  onTestFinished(async () => {
    await open.stop();
    await demanding.stop();
  });
  expect((await get(open.gateway.ports.http, '/healthz', {})).statusCode).toBe(200);
  const { http } = demanding.gateway.ports;
  await expect(get(http, '/healthz', {})).rejects.toThrow(/certificate required|ECONNRESET|socket hang up/);
  expect((await get(http, '/healthz', gateway)).statusCode).toBe(200);
});
