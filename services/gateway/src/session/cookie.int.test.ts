import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type GatewayHarness, startHarness } from '../../test/harness.ts';

let harness: GatewayHarness;
let cookie: string;

beforeAll(async () => {
  harness = await startHarness();
  cookie = `other=1; __Host-ticketing_session=${await harness.identity.issuerToken()}; last=x`;
});

afterAll(() => harness.stop());

const own = () => `http://127.0.0.1:${harness.gateway.ports.http}`;

/** Rows: verb, path, Sec-Fetch-Site, Origin ("own" is replaced), status. */
const matrix: [verb: string, path: string, site: string | null, origin: string | null, status: number][] = [
  ['GET', '/ticket/1', null, null, 200],
  ['GET', '/ticket/1', 'cross-site', 'https://evil.example', 200],
  ['GET', '/ticket/1?refresh=false', 'cross-site', null, 200],
  ['HEAD', '/ticket/1', 'cross-site', null, 200],
  ...['POST', 'PATCH', 'DELETE', 'PUT'].flatMap((verb): typeof matrix => [
    [verb, '/ticket/1', 'same-origin', null, 200],
    [verb, '/ticket/1', 'same-origin', 'https://evil.example', 200],
    [verb, '/ticket/1', 'same-site', 'own', 403],
    [verb, '/ticket/1', 'cross-site', 'own', 403],
    [verb, '/ticket/1', 'none', 'own', 403],
    [verb, '/ticket/1', 'SAME-ORIGIN', null, 403],
    [verb, '/ticket/1', '', 'own', 403],
    [verb, '/ticket/1', null, 'own', 200],
    [verb, '/ticket/1', null, 'null', 403],
    [verb, '/ticket/1', null, 'https://evil.example', 403],
    [verb, '/ticket/1', null, null, 403],
  ]),
  ...['refresh=true', 'x=1&refresh=1', '%72efresh=true', 'refresh=%74rue', '[refresh]=true', 'refresh[]=true'].flatMap(
    (query): typeof matrix => [
      ['GET', `/ticket/1?${query}`, 'same-origin', null, 200],
      ['GET', `/ticket/1?${query}`, 'none', null, 403],
      ['GET', `/ticket/1?${query}`, 'same-site', null, 403],
      ['GET', `/ticket/1?${query}`, 'cross-site', 'own', 403],
      ['GET', `/ticket/1?${query}`, null, 'own', 200],
      ['GET', `/ticket/1?${query}`, null, null, 403],
      ['HEAD', `/ticket/1?${query}`, 'cross-site', null, 403],
    ],
  ),
];

describe('a cookie request', () => {
  // guarantee: C5
  // asvs: 3.3.2, 3.5.1
  it.each(matrix)('%s %s with Sec-Fetch-Site %s and Origin %s: %i', async (verb, path, site, origin, status) => {
    const response = await harness.callBare(verb, path, {
      headers: {
        cookie,
        ...(site === null ? {} : { 'sec-fetch-site': site }),
        ...(origin === null ? {} : { origin: origin === 'own' ? own() : origin }),
      },
    });
    expect(response.status).toBe(status);
    if (status === 403 && verb !== 'HEAD') {
      expect(response.json).toMatchObject({ title: 'Unauthorized', code: 'cross_site_request' });
    }
  });

  it('is not checked for its origin if it has a bearer token too', async () => {
    expect(
      (await harness.call('POST', '/ticket', { headers: { cookie, 'sec-fetch-site': 'cross-site' } })).status,
    ).toBe(200);
  });

  it('is not authorised by its cookie if it has an Authorization header', async () => {
    for (const authorization of ['', 'Bearer x', 'Basic x']) {
      expect((await harness.callBare('GET', '/ticket/1', { headers: { cookie, authorization } })).status).toBe(401);
    }
  });

  // spec: 37.3
  // asvs: 7.2.1
  it('with an invalid token is refused with 401', async () => {
    const response = await harness.callBare('GET', '/ticket/1', { headers: { cookie: '__Host-ticketing_session=x' } });
    expect(response.json).toMatchObject({ code: 'invalid_token' });
  });
});

it('accepts only the configured origin if one is configured', async () => {
  const other = await startHarness({ PUBLIC_ORIGIN: 'https://tickets.example', SESSION_COOKIE: 'desk' });
  const write = (origin: string) => ({ headers: { cookie: `desk=${other.bearer.slice(7)}`, origin, host: 'inner' } });
  expect((await other.callBare('POST', '/ticket', write('https://tickets.example'))).status).toBe(200);
  for (const origin of ['http://tickets.example', 'http://inner', 'https://inner', 'https://tickets.example.evil']) {
    expect((await other.callBare('POST', '/ticket', write(origin))).status).toBe(403);
  }
  await other.stop();
});

describe('the session', () => {
  // spec: 37.9
  // asvs: 3.3.1, 3.3.2, 3.3.4
  it('stores a bearer token in a cookie for as long as it is valid', async () => {
    const response = await harness.call('POST', '/auth/session');
    expect(response).toMatchObject({ status: 200, json: { success: true } });
    const [written = ''] = response.headers['set-cookie'] ?? [];
    const maxAge = Number(/Max-Age=(\d+);/.exec(written)?.[1]);
    expect(written.replace(/Max-Age=\d+/, 'Max-Age=N')).toBe(
      `__Host-ticketing_session=${harness.bearer.slice(7)}; Max-Age=N; Path=/; HttpOnly; Secure; SameSite=Lax`,
    );
    expect(maxAge).toBeGreaterThan(3500);
    expect(maxAge).toBeLessThanOrEqual(3600);
  });

  // asvs: 16.3.1
  it('is logged with its caller when it begins and ends, without its token', async () => {
    const info = vi.spyOn(harness.gateway.log, 'info');
    const send = async (method: string, headers: Record<string, string>) =>
      (await harness.callBare(method, '/auth/session', { headers })).status;
    const sameOrigin = { 'sec-fetch-site': 'same-origin' };
    const invalid = { ...sameOrigin, cookie: '__Host-ticketing_session=x.y.z' };
    expect(await send('POST', { authorization: harness.bearer })).toBe(200);
    expect(await send('DELETE', { ...sameOrigin, cookie })).toBe(200);
    expect(await send('DELETE', invalid)).toBe(200);
    expect(await send('DELETE', { authorization: harness.bearer })).toBe(200);
    expect(await send('POST', { ...sameOrigin, cookie })).toBe(401);
    expect(await send('DELETE', { cookie })).toBe(403);
    const sessions = info.mock.calls.filter(([, message]) => String(message).includes('session'));
    info.mockRestore();
    const common = { address: '127.0.0.1', caller: 'user 7', traceId: expect.stringMatching(/^[0-9a-f]{32}$/) };
    expect(sessions).toEqual([
      [{ ...common, route: 'POST /auth/session' }, 'a session began'],
      [{ ...common, route: 'DELETE /auth/session' }, 'a session ended'],
    ]);
  });

  // asvs: 7.2.4, 7.6.2
  it('cannot be renewed with its own cookie', async () => {
    const response = await harness.callBare('POST', '/auth/session', {
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
    expect(response.json).toMatchObject({ status: 401, code: 'missing_token' });
    expect(response.headers['set-cookie']).toBeUndefined();
  });

  it('can be cleared only by pages of the same origin', async () => {
    const clear = (site: string) =>
      harness.callBare('DELETE', '/auth/session', { headers: { cookie, 'sec-fetch-site': site } });
    expect(await clear('cross-site')).toMatchObject({ status: 403 });
    const response = await clear('same-origin');
    expect(response).toMatchObject({ status: 200, json: { success: true } });
    expect(response.headers['set-cookie']).toEqual([
      '__Host-ticketing_session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax',
    ]);
    expect((await harness.callBare('DELETE', '/auth/session')).status).toBe(401);
  });

  // guarantee: C17
  it('can be cleared when its token no longer verifies, by pages of the same origin', async () => {
    const expired = await harness.identity.signIssuerToken({ sub: '7', kind: 'user', scope: 'api', iat: 1, exp: 2 });
    for (const token of [expired, 'nonsense', '']) {
      const clear = (site: string, path = '/auth/session', method = 'DELETE') =>
        harness.callBare(method, path, {
          headers: { cookie: `__Host-ticketing_session=${token}`, 'sec-fetch-site': site },
        });
      expect(await clear('cross-site')).toMatchObject({ status: 403, json: { code: 'cross_site_request' } });
      expect(await clear('same-site')).toMatchObject({ status: 403 });
      const response = await clear('same-origin', '/auth/session?x=1');
      expect(response).toMatchObject({ status: 200, json: { success: true } });
      expect(response.headers['set-cookie']).toEqual([
        '__Host-ticketing_session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax',
      ]);
      expect((await clear('same-origin', '/ticket/1')).status).toBe(401);
      expect((await clear('same-origin', '/auth/session', 'POST')).status).toBe(401);
      expect((await clear('same-origin', '/auth/session', 'PATCH')).status).toBe(401);
    }
  });

  it('is not cleared for an invalid bearer token', async () => {
    const headers = { cookie, authorization: 'Bearer x', 'sec-fetch-site': 'same-origin' };
    const response = await harness.callBare('DELETE', '/auth/session', { headers });
    expect(response).toMatchObject({ status: 401, json: { code: 'invalid_token' } });
  });

  // asvs: 3.3.5
  it('is refused for a token that is too long for a cookie', async () => {
    const token = await harness.identity.issuerToken({
      permissions: Array.from({ length: 200 }, () => 'x'.repeat(20)),
    });
    const response = await harness.call('POST', '/auth/session', { headers: { authorization: `Bearer ${token}` } });
    expect(response).toMatchObject({ status: 400, json: { code: 'token_too_long' } });
    expect(response.headers['set-cookie']).toBeUndefined();
  });

  it.each(['GET', 'PUT', 'PATCH', 'OPTIONS'])('accepts only POST and DELETE, not %s', async (verb) => {
    const response = await harness.call(verb, '/auth/session');
    expect(response).toMatchObject({ status: 405, json: { code: 'method_not_allowed' } });
    expect(response.headers.allow).toBe('POST, DELETE');
  });
});
