import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type System, startSystem } from '../e2e/harness.ts';

let system: System;
let backend: Server;
let url: string;
/** The keys of the requests that the backend system has received. */
const calls: string[] = [];
/** The status with which the backend system responds, once it is known. */
let answers = Promise.resolve(200);

beforeAll(async () => {
  backend = createServer(async (request, response) => {
    calls.push(String(request.headers['idempotency-key']));
    response.writeHead(await answers).end('{}');
  });
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}/pay`;
  system = await startSystem();
});
beforeEach(() => {
  calls.length = 0;
  answers = Promise.resolve(200);
});
afterAll(async () => {
  await system.stop();
  await new Promise((resolve) => backend.close(resolve));
});

const admin = { roleId: 1 };
const vendor = { sub: '9', kind: 'vendor', roleId: 3, permissions: [] };

async function call(claims: object, method: string, path: string, body?: object) {
  const response = await system.fetch(system.url + path, {
    method,
    headers: {
      authorization: `Bearer ${await system.identity.issuerToken(claims)}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, json: JSON.parse(await response.text()) };
}

/** An AI agent that calls the backend system, and a ticket. */
async function payout(agent: object = {}) {
  const options = [{ type: 'go', name: 'Go', recommended: true }];
  const executor = { type: 'http', url, secret: 'a-secret-of-16-characters' };
  const { id, slug: code } = (await call(admin, 'POST', '/aiAgent', { name: 'Payout', options, executor, ...agent }))
    .json;
  const ticketId: number = (await call(admin, 'POST', '/ticket', { channel: 'email' })).json.id;
  const request = { code, ticketId, data: { amount: 99_999 } };
  const execute = async (claims: object, path = 0, body: object = request) => {
    const { status, json } = await call(claims, 'POST', `/intent/${path}/execute`, body);
    return { status, json, result: [status, json.code ?? json.responseCode] };
  };
  return { id, ticketId, request, execute };
}

test('a vendor has no backend system called, whatever it sends, and nobody has with a disabled AI agent or a closed ticket', async () => {
  const { id, ticketId, request, execute } = await payout();
  for (const kind of ['vendor', 'vendorPartner']) {
    for (const body of [request, { ...request, dryRun: true }, { ...request, informCustomer: true }])
      expect((await execute({ ...vendor, kind }, 0, body)).result).toEqual([403, 'kind_not_allowed']);
  }
  await call(admin, 'PATCH', `/aiAgent/${id}`, { enabled: false });
  expect((await execute(admin)).result).toEqual([409, 'ai_agent_disabled']);
  await call(admin, 'PATCH', `/aiAgent/${id}`, { enabled: true });
  await call(admin, 'PATCH', `/ticket/${ticketId}`, { status: 'closed' });
  expect((await execute(admin)).result).toEqual([409, 'ticket_closed']);
  expect(calls).toEqual([]);
  expect((await call(admin, 'GET', `/ticket/${ticketId}`)).json.intents).toEqual([]);
});

test('of a ticket that is deleted while twelve calls execute its intent, one caller gets the outcome', async () => {
  const { ticketId, request, execute } = await payout();
  // After a failure the intent exists, and is ready.
  answers = Promise.resolve(400);
  expect((await execute(admin, 0, request)).json.success).toBe(false);
  const [intent] = (await call(admin, 'GET', `/ticket/${ticketId}`)).json.intents;
  const { promise, resolve } = Promise.withResolvers<number>();
  answers = promise;
  calls.length = 0;
  const users = [
    { sub: '7', roleId: 2 },
    { sub: '8', roleId: 2 },
  ];
  const running = Array.from({ length: 12 }, (_, nth) => execute(users[nth % 2] ?? {}, intent.id, {}));
  await expect.poll(() => calls.length).toBe(1);
  expect((await call(admin, 'DELETE', `/ticket/${ticketId}`)).status).toBe(200);
  const isErased = async () => (await execute(admin, intent.id, {})).result;
  await expect.poll(isErased).toEqual([404, 'intent_not_found']);
  resolve(200);
  const responses = await Promise.all(running);
  expect(calls).toHaveLength(1);
  const done = responses.filter(({ status }) => status === 200);
  expect(done.map(({ json }) => json)).toMatchObject([{ success: true, txId: calls[0] }]);
  for (const { result, json } of responses.filter((one) => !done.includes(one))) {
    // A caller who has waited for 5 s before the deletion knows only that the execution runs.
    expect([
      [404, 'intent_not_found'],
      [409, 'intent_running'],
    ]).toContainEqual(result);
    // A call that arrives after the deletion finds no execution.
    if (result[0] === 404) expect(json.detail).toMatch(new RegExp(`${calls[0]}|^Intent not found$`));
  }
});
