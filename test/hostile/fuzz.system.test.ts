import type { OpenApiDocument } from '@ticketing/rest/documents/openapi.ts';
import { documentCheck } from '@ticketing/testkit/checked-fetch.ts';
import type { ResponseCheck } from '@ticketing/testkit/response-check.ts';
import { seed } from '@ticketing/testkit/seed.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type System, startSystem } from '../e2e/harness.ts';
import { type FuzzRequest, requestsFor } from './fuzz-request.ts';

let system: System;
let check: ResponseCheck;
let tokens: { admin: string; ordinary: string };

beforeAll(async () => {
  const RATE_LIMITS = 'user=100000000,serviceWorker=100000000';
  system = await startSystem({ variables: { RATE_LIMITS } });
  check = await documentCheck(`${system.url}/openapi.json`);
  tokens = {
    admin: await system.identity.issuerToken({ kind: 'serviceWorker', roleId: 1 }),
    ordinary: await system.identity.issuerToken({ sub: '8' }),
  };
  const headers = { authorization: `Bearer ${tokens.admin}`, 'content-type': 'application/json' };
  // These requests make some ids exist.
  for (const [path, body] of [
    ['/tag', { name: 'Tag' }],
    ...Array.from({ length: 6 }, () => ['/ticket', { subject: 'Ticket', body: 'Text' }] as const),
    ['/webhook', { url: 'https://example.org' }],
    ['/settings/subchannel', { channel: 'email', name: 'Mail' }],
  ] as const) {
    await fetch(system.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  }
});
afterAll(() => system.stop());

// guarantee: I36
// asvs: 2.2.2
test('no request that fits the OpenAPI document, nearly fits it, or makes no sense gets a 5xx or an unlisted response', async () => {
  const response = await fetch(`${system.url}/openapi.json`);
  const document = (await response.json()) as OpenApiDocument;
  const operations = Object.entries(document.paths).flatMap(([path, byVerb]) =>
    Object.entries(byVerb).map(([verb, operation]) => ({ path, verb: verb.toUpperCase(), operation })),
  );
  // Deletions come last, so that the others find something.
  operations.sort((one, other) => Number(one.verb === 'DELETE') - Number(other.verb === 'DELETE'));
  const byStatus = new Map<number, number>();
  const failures: string[] = [];
  for (const { path, verb, operation } of operations) {
    const send = async (request: FuzzRequest) => {
      const status = await sendRequest(verb, request);
      byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
      expect(status, 'a request of a client is no failure of the server').toBeLessThan(500);
    };
    const property = fc.asyncProperty(requestsFor(document, path, operation), send);
    const result = await fc.check(property, { numRuns: 60 });
    // All operations are tried, so that one failure does not hide another.
    if (result.failed)
      failures.push(`${verb} ${path}: ${JSON.stringify(result.counterexample)}\n${result.errorInstance}`);
  }
  const total = [...byStatus.values()].reduce((sum, count) => sum + count, 0);
  const statuses = [...byStatus].sort(([one], [other]) => one - other).map(([status, count]) => `${status}: ${count}`);
  process.stdout.write(
    `fuzzing: seed ${seed}, ${operations.length} operations, ${total} requests, failed: ${failures.length} (${statuses.join(', ')})\n`,
  );
  expect(failures).toEqual([]);
  // The requests reach the handlers, and not only the checks before them.
  for (const status of [200, 201, 400, 403, 404]) expect(byStatus.get(status), `${status}`).toBeGreaterThan(0);
});

/** Sends a request and checks the response against the document. Returns its status. */
async function sendRequest(method: string, { path, headers, body, isAdmin }: FuzzRequest): Promise<number> {
  const token = isAdmin ? tokens.admin : tokens.ordinary;
  const response = await fetch(system.url + path, {
    method,
    headers: { ...headers, authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(20_000),
    ...(body === undefined || method === 'GET' ? {} : { body }),
  });
  const received = new Uint8Array(await response.arrayBuffer());
  // `fetch` sends the normalised path.
  const { pathname } = new URL(system.url + path);
  check({ method, path: pathname, status: response.status, headers: response.headers, body: received });
  return response.status;
}
