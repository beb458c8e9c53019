import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { developmentIssuer } from '@ticketing/testkit/development-keys.ts';
import { testIdentity } from '@ticketing/testkit/test-identity.ts';
import { SignJWT } from 'jose';
import { expect, it, vi } from 'vitest';
import { gatewayVariables, startHarness } from '../../test/harness.ts';
import { send } from '../../test/http-client.ts';
import { service } from '../service.ts';

it('is not ready before the issuer has responded once, and stays ready afterwards', async () => {
  const identity = testIdentity();
  const { TICKETING_GATEWAY_JWKS_FILE: jwksFile = '', ...environment } = gatewayVariables(identity, 1);
  const issuer = createServer((_, response) => response.end(readFileSync(jwksFile)));
  issuer.listen(0, '127.0.0.1');
  await once(issuer, 'listening');
  const { port } = issuer.address() as AddressInfo;
  const close = () => new Promise((resolve) => issuer.close(resolve).closeAllConnections());
  await close();

  const gateway = await service.start({
    ...environment,
    TICKETING_GATEWAY_JWKS_URL: `http://127.0.0.1:${port}/jwks`,
  });
  const headers = { authorization: `Bearer ${await identity.issuerToken()}` };
  const probe = async () => (await send(gateway.ports.http, 'GET', '/readyz')).status;
  expect(await probe()).toBe(503);
  expect((await send(gateway.ports.http, 'GET', '/healthz')).status).toBe(200);
  const refused = await send(gateway.ports.http, 'GET', '/nowhere', { headers });
  expect(refused.json).toMatchObject({ status: 503, code: 'issuer_unavailable' });
  expect(refused.headers['retry-after']).toBe('1');

  issuer.listen(port, '127.0.0.1');
  await vi.waitFor(async () => expect(await probe()).toBe(200), { timeout: 30_000, interval: 50 });
  await close();
  expect((await send(gateway.ports.http, 'GET', '/nowhere', { headers })).status).toBe(404);
  expect(await probe()).toBe(200);
  await gateway.stop();
  identity.remove();
});

it('verifies tokens with a configured secret instead of a key set', async () => {
  const secret = 's'.repeat(32);
  const harness = await startHarness({ JWKS_FILE: '', JWT_SECRET: secret });
  const sign = (key: string) =>
    new SignJWT({ kind: 'user', scope: 'api' })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject('7')
      .setIssuedAt()
      .setIssuer('ticketing-development')
      .setAudience('ticketing')
      .setExpirationTime('1m')
      .sign(new TextEncoder().encode(key));
  const statusWith = async (authorization: string) =>
    (await harness.callBare('GET', '/ticket/1', { headers: { authorization } })).status;
  expect(await statusWith(`Bearer ${await sign(secret)}`)).toBe(200);
  expect(await statusWith(`Bearer ${await sign('t'.repeat(32))}`)).toBe(401);
  expect(await statusWith(harness.bearer)).toBe(401);
  await harness.stop();
});

it('refuses tokens that are valid for longer than the configured lifetime', async () => {
  const harness = await startHarness({ MAX_TOKEN_LIFETIME_S: '900' });
  const iat = Math.floor(Date.now() / 1000);
  const callWith = async (seconds: number) => {
    const claims = {
      iss: developmentIssuer.issuer,
      aud: developmentIssuer.audience,
      sub: '7',
      kind: 'user',
      scope: 'api',
      iat,
      exp: iat + seconds,
    };
    const authorization = `Bearer ${await harness.identity.signIssuerToken(claims)}`;
    return harness.callBare('GET', '/ticket/1', { headers: { authorization } });
  };
  expect((await callWith(900)).status).toBe(200);
  expect((await callWith(901)).json).toMatchObject({ status: 401, code: 'invalid_token' });
  await harness.stop();
});
