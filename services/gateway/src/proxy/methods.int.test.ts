import { METHODS } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GatewayHarness, startHarness } from '../../test/harness.ts';
import { findLast } from '../../test/stub-service.ts';

let harness: GatewayHarness;

beforeAll(async () => {
  harness = await startHarness();
});

afterAll(() => harness.stop());

// A CONNECT request has no path, and Node ends its connection.
const methods = METHODS.filter((method) => method !== 'CONNECT');
const json = { 'content-type': 'application/json' };

it.each([
  ['/auth/session', ['POST', 'DELETE']],
  ['/openapi.json', ['GET', 'HEAD']],
  ['/docs', ['GET', 'HEAD']],
  ['/docs/static/start.js', ['GET', 'HEAD']],
  ['/healthz', ['GET', 'HEAD']],
  ['/readyz', ['GET', 'HEAD']],
])('responds with 405 to every method that %s does not have', async (path, allowed) => {
  for (const method of methods.filter((candidate) => !allowed.includes(candidate))) {
    const response = await harness.call(method, path, { headers: json, body: '{}' });
    expect([method, response.status, response.headers.allow]).toEqual([method, 405, allowed.join(', ')]);
    expect(response.headers['content-type']).toContain('application/problem+json');
    if (method !== 'HEAD') expect(response.json).toMatchObject({ status: 405, code: 'method_not_allowed' });
  }
});

it('forwards every method to the service', async () => {
  for (const method of methods) {
    expect([method, (await harness.call(method, '/ticket/1')).status]).toEqual([method, 200]);
    expect(findLast(harness.stub)).toMatchObject({ method, url: '/ticket/1' });
  }
});

// spec: 18.1, 37.1, 39.12
it('requires a credential for every method', async () => {
  const before = harness.stub.received.length;
  for (const method of methods) {
    for (const path of ['/ticket/1', '/auth/session', '/nowhere']) {
      expect([method, path, (await harness.callBare(method, path)).status]).toEqual([method, path, 401]);
    }
  }
  expect(harness.stub.received).toHaveLength(before);
});

// asvs: 13.4.3
it('responds with 404 to every method on a path that does not exist', async () => {
  for (const method of methods) {
    expect([method, (await harness.call(method, '/nowhere')).status]).toEqual([method, 404]);
  }
});
