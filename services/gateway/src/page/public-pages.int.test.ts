import { openApiDocument } from '@ticketing/rest/documents/openapi.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayHarness, startHarness } from '../../test/harness.ts';
import { send } from '../../test/http-client.ts';
import { upstreams } from '../request/upstreams.ts';

let harness: GatewayHarness;
let clock = 1_000_000;

/** The document of the services, cloned before the gateway changes it: services build it in other processes. */
const document = structuredClone(
  openApiDocument({
    title: 'Tickets',
    version: '1',
    served: upstreams.flatMap(({ contracts }) =>
      contracts.map((service) => ({ service, handlers: new Map(service.methods.map((method) => [method, null])) })),
    ),
  }),
);

beforeAll(async () => {
  harness = await startHarness({ SESSION_COOKIE: 'desk' }, { monotonicMs: () => clock });
});

afterAll(() => harness.stop());

const get = (path: string) => harness.callBare('GET', path);

// asvs: 13.4.5
it('serves health and readiness without a credential, and metrics only on the internal port', async () => {
  expect(await get('/healthz')).toMatchObject({ status: 200, json: { status: 'ok' } });
  expect(await get('/readyz')).toMatchObject({
    status: 200,
    json: { status: 'ready', dependencies: { issuer: 'up' } },
  });
  expect((await get('/metrics')).status).toBe(401);
  expect((await send(harness.gateway.ports.internal, 'GET', '/metrics')).status).toBe(200);
});

describe('the OpenAPI document', () => {
  it('contains the gateway and every service whose document was fetched', async () => {
    const before = await get('/openapi.json');
    expect(before.status).toBe(200);
    expect(Object.keys(before.json.paths)).toEqual(['/auth/session']);
    expect(before.json.components.securitySchemes.cookieAuth.name).toBe('desk');
    expect(before.json.servers).toEqual([{ url: '/' }]);

    harness.stub.setDescription(document);
    clock += 250;
    const whole = (await get('/openapi.json')).json;
    expect(Object.keys(whole.paths)).toEqual(['/auth/session', ...Object.keys(document.paths)]);
    expect(whole.components.securitySchemes.cookieAuth.name).toBe('desk');
    expect(listReferences(whole).filter((reference) => !exists(whole, reference))).toEqual([]);

    harness.stub.setDescription(undefined);
    clock += 60_000;
    expect((await get('/openapi.json')).json).toEqual(whole);
  });
});

// asvs: 4.1.1
it('serves the AsyncAPI document without a credential, to GET and HEAD', async () => {
  const response = await get('/asyncapi.json');
  expect(response).toMatchObject({ status: 200, json: { asyncapi: '3.0.0', info: { title: 'Ticketing events' } } });
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  const head = await harness.callBare('HEAD', '/asyncapi.json');
  expect(head).toMatchObject({ status: 200, body: Buffer.alloc(0) });
  expect((await harness.callBare('POST', '/asyncapi.json')).headers.allow).toBe('GET, HEAD');
});

describe('the reference page', () => {
  // asvs: 3.6.1, 3.7.1, 14.2.3
  it('loads everything from the gateway', async () => {
    for (const path of ['/docs', '/docs/']) {
      const page = await get(path);
      expect(page.status).toBe(200);
      expect(page.headers['content-type']).toContain('text/html');
      expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
      const html = page.body.toString();
      expect(html).not.toMatch(/(?:https?:)?\/\//);
      expect(html).not.toMatch(/<script>|\son\w+=/);
      const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, asset = '']) => asset);
      expect(assets).toHaveLength(4);
      for (const asset of assets) {
        const response = await get(asset);
        expect(response.status).toBe(200);
        expect(response.headers['x-content-type-options']).toBe('nosniff');
      }
    }
  });

  it('shows the name of the product, without the logo of Swagger and the field for other documents', async () => {
    const html = (await get('/docs')).body.toString();
    expect(html).toContain('<title>Ticketing API</title>');
    expect(html).toContain('href="/docs/static/icon.svg"');
    const start = (await get('/docs/static/start.js')).body.toString();
    expect(start).toContain("layout: 'BaseLayout'");
    expect(start).toContain("url: '/openapi.json'");
    expect((await get('/openapi.json')).json.info.title).toBe('Ticketing API');
  });

  it('begins with an introduction, which names tokens, rates, errors, repetition and versions', async () => {
    const { description } = (await get('/openapi.json')).json.info;
    for (const topic of ['A token', 'Rates', 'Errors', 'Repeated requests', 'Versions', 'Changes']) {
      expect(description).toContain(`**${topic}.**`);
    }
  });

  it('is public; other paths with the same prefix are not', async () => {
    expect((await get('/docsx')).status).toBe(401);
    expect((await get('/docs/../ticket/1')).status).toBe(404);
  });

  it('has no other forms of the OpenAPI document', async () => {
    for (const path of ['/docs/json', '/docs/yaml', '/docs/static/nothing']) {
      const response = await get(path);
      expect([path, response.status, response.json.code]).toEqual([path, 404, 'route_not_found']);
    }
  });

  it('is where a browser gets from /, which no other client finds', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const page = await harness.callBare('GET', '/', { headers: { accept } });
    expect([page.status, page.headers.location]).toEqual([302, '/docs']);
    expect((await harness.callBare('GET', '/', { headers: { accept: '*/*' } })).status).toBe(401);
    expect((await harness.call('GET', '/')).json.code).toBe('route_not_found');
  });
});

describe.each([
  '/openapi.json',
  '/asyncapi.json',
  '/docs',
  '/docs/',
  '/docs/static/swagger-ui.css',
  '/docs/static/swagger-ui-bundle.js',
  '/docs/static/start.js',
  '/docs/static/icon.svg',
])('%s', (path) => {
  it('has an entity tag, and is 304 for a client that has it', async () => {
    const { status, headers, body } = await get(path);
    const etag = String(headers.etag);
    expect([status, headers['cache-control']]).toEqual([200, 'no-cache']);
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    for (const header of [etag, `"other", W/${etag}`, '*']) {
      const known = await harness.callBare('GET', path, { headers: { 'if-none-match': header } });
      expect([known.status, known.headers.etag, known.body.length]).toEqual([304, etag, 0]);
    }
    const other = await harness.callBare('GET', path, { headers: { 'if-none-match': '"other"' } });
    expect([other.status, other.body]).toEqual([200, body]);
    const head = await harness.callBare('HEAD', path);
    expect([head.status, head.headers.etag, head.headers['content-length']]).toEqual([200, etag, `${body.length}`]);
  });
});

function listReferences(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' ? [String(inner)] : listReferences(inner)));
}

function exists(document: unknown, reference: string): boolean {
  const names = reference.slice(2).split('/');
  return (
    names.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document) !== undefined
  );
}
