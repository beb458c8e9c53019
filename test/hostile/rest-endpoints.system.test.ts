import { isEventStream, readRestRule } from '@ticketing/rest/codec/options.ts';
import { type ServiceEntry, serviceNamed, services } from '@ticketing/system/services.ts';
import { heldRequest } from '@ticketing/testkit/held-request.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type System, startSystem } from '../e2e/harness.ts';

const MiB = 1024 * 1024;

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

/** The routes of an OpenAPI document that take a body, with a value for each parameter of the path. */
async function routesWithBody(port: number): Promise<{ method: string; path: string }[]> {
  const response = await fetch(`http://127.0.0.1:${port}/openapi.json`);
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, object>> };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => 'requestBody' in operation)
      .map(([method]) => ({ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, '1') })),
  );
}

const readSpellings = (path: string) => [
  path,
  `${path}?x=1`,
  path.replace(/.$/, (last) => `%${last.charCodeAt(0).toString(16)}`),
  `/${path}`,
  `${path}/`,
  `/x/..${path}`,
  '/nothing',
];

/** Whether a service, or a service to which it forwards requests, has a route with a body. */
function takesBodies({ contracts, calls }: ServiceEntry): boolean {
  const forwarded = contracts.length === 0 ? calls.flatMap((name) => serviceNamed(name).contracts) : [];
  return [...contracts, ...forwarded].flatMap(({ methods }) => methods).some((method) => readRestRule(method)?.body);
}

describe.each(services.map((entry) => [entry.name, entry] as const))('the REST port of %s', (name, entry) => {
  // guarantee: A1
  // asvs: 1.1.1
  test('refuses a caller without a credential before its body has arrived, however the path is spelt', async () => {
    const { http: port } = system.findPorts(name);
    const routes = await routesWithBody(port);
    expect(routes.length > 0).toBe(takesBodies(entry));
    for (const { method, path } of [...routes, { method: 'POST', path: '/nothing' }]) {
      for (const spelling of readSpellings(path)) {
        for (const authorization of [undefined, 'Bearer x.y.z']) {
          const request = { port, method, path: spelling, body: Buffer.from('{"a":'), heldBytes: MiB };
          const { status } = await heldRequest({
            ...request,
            ...(authorization && { headers: { authorization } }),
          });
          const where = `${method} ${spelling} ${authorization}`;
          expect([400, 401, 404, 405], `${where}: ${status}`).toContain(status);
          if (spelling === path && path !== '/nothing') expect(status, where).toBe(401);
        }
      }
    }
  });
});

test.each(services.map(({ name }) => name))(
  // asvs: 4.1.4
  'the public pages of %s refuse other methods with a problem',
  async (name) => {
    const { http: port } = system.findPorts(name);
    for (const path of ['/healthz', '/readyz', '/openapi.json']) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const request = { method, ...(method !== 'OPTIONS' && { body: '{}' }) };
        const response = await fetch(`http://127.0.0.1:${port}${path}`, request);
        expect([method, path, response.status, response.headers.get('allow')]).toEqual([
          method,
          path,
          405,
          'GET, HEAD',
        ]);
        expect(await response.json()).toMatchObject({ code: 'method_not_allowed', instance: path });
      }
    }
  },
);

describe.each(services.map((entry) => [entry.name, entry] as const))('100 Continue of %s', (name, entry) => {
  // guarantee: A3
  test('is sent to a request that was admitted, and to no other', async () => {
    const { http: port } = system.findPorts(name);
    const admin = testCaller({ kind: 'serviceWorker', roleId: 1 });
    const token =
      entry.contracts.length > 0
        ? await system.identity.internalToken(name, admin)
        : await system.identity.issuerToken({ kind: 'serviceWorker', roleId: 1 });
    const common = { expect: '100-continue', 'content-type': 'application/json' };
    const admitted = { ...common, authorization: `Bearer ${token}` };
    const send = async (method: string, path: string, headers: Record<string, string>, heldBytes?: number) => {
      const body = Buffer.from(heldBytes === undefined ? '{}' : '');
      const { status, isContinued } = await heldRequest({ port, method, path, headers, body, heldBytes });
      return [status, isContinued];
    };
    for (const { method, path } of await routesWithBody(port)) {
      const where = `${method} ${path}`;
      expect(await send(method, path, common, 10), where).toEqual([401, false]);
      expect(await send(method, path, admitted, 41 * MiB), where).toEqual([413, false]);
      expect(await send(method, path, { ...admitted, 'content-encoding': 'gzip' }, 10), where).toEqual([415, false]);
      expect(await send(method, path, admitted), where).toEqual([expect.any(Number), true]);
    }
    expect(await send('POST', '/nothing', admitted, 10)).toEqual([404, false]);
    for (const { contracts } of entry.calls.map(serviceNamed)) {
      const rule = contracts.flatMap(({ methods }) => methods.map(readRestRule)).find((one) => one);
      const unknown = `/${rule?.path.split('/')[1]}/1/2/3/4`;
      const [status, isContinued] = await send('POST', unknown, admitted, 10);
      expect([status, isContinued], unknown).toEqual([404, false]);
    }
  });
});

describe.each(
  services.flatMap(({ name, contracts }) =>
    contracts
      .flatMap(({ methods }) => methods)
      .filter((method) => method.methodKind === 'server_streaming' && readRestRule(method) && !isEventStream(method))
      .map((method) => [name, readRestRule(method)?.path ?? ''] as const),
  ),
)('the file of %s at %s', (name, route) => {
  const path = route.replaceAll(/\{\w+\}/g, '1');

  // A file with an id has to be made first.
  // asvs: 3.2.1, 14.2.2
  test.skipIf(route.includes('{'))('is downloaded, never shown by a browser, and not kept by caches', async () => {
    const token = await system.identity.issuerToken({ kind: 'serviceWorker', roleId: 1 });
    const response = await fetch(`${system.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    await response.arrayBuffer();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="[\w.-]+"$/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  // guarantee: C5
  // asvs: 3.5.3
  test('is not sent to a page of another site, however the path is spelt', async () => {
    const token = await system.identity.issuerToken({ kind: 'user', roleId: 1 });
    for (const spelling of readSpellings(path)) {
      const headers = { cookie: `__Host-ticketing_session=${token}`, 'sec-fetch-site': 'cross-site' };
      const { port } = new URL(system.url);
      const body = Buffer.alloc(0);
      const { status } = await heldRequest({ port: Number(port), method: 'GET', path: spelling, headers, body });
      expect(status === 403 || (spelling !== path && [400, 404].includes(status ?? 0)), `${spelling}: ${status}`).toBe(
        true,
      );
      const open = await heldRequest({
        port: system.findPorts(name).http,
        method: 'GET',
        path: spelling,
        headers,
        body,
      });
      expect([400, 401, 404], `${spelling} at the service`).toContain(open.status);
    }
  });
});
