import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type GatewayHarness, startHarness } from '../../test/harness.ts';

let harness: GatewayHarness;
beforeAll(async () => {
  harness = await startHarness({ RATE_LIMITS: 'user=1' });
});
afterAll(() => harness.stop());

// asvs: 1.3.10, 16.3.1
it('logs each request that it refuses for its credential, its origin or its rate, and no other', async () => {
  const info = vi.spyOn(harness.gateway.log, 'info');
  const token = harness.bearer.replace('Bearer ', '');
  const cookie = { cookie: `__Host-ticketing_session=${token}`, 'sec-fetch-site': 'cross-site' };
  expect((await harness.callBare('GET', '/healthz')).status).toBe(200);
  expect((await harness.callBare('GET', '/ticket/1?secret=7')).status).toBe(401);
  expect((await harness.callBare('GET', '/nowhere', { headers: { authorization: 'Bearer x.y.z' } })).status).toBe(401);
  expect((await harness.callBare('DELETE', '/ticket/1', { headers: cookie })).status).toBe(403);
  expect((await harness.call('GET', '/ticket/1')).status).toBe(429);
  const refusals = info.mock.calls
    .filter(([, message]) => message === 'a request was refused')
    .map(([fields]) => fields);
  expect(refusals).toMatchObject([
    { reason: 'missing_token', route: 'GET /ticket/{ticket_id}', address: '127.0.0.1' },
    { reason: 'invalid_token', route: 'GET unmatched' },
    { reason: 'cross_site_request', route: 'DELETE /ticket/{ticket_id}', caller: expect.stringMatching(/^user \d+$/) },
    { reason: 'rate_limited', route: 'GET /ticket/{ticket_id}' },
  ]);
  expect(JSON.stringify(refusals)).not.toMatch(/secret=7|eyJ/);
});
