import { openApiDocument } from '@ticketing/rest/openapi.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { upstreams } from '../src/upstreams.ts';
import { type GatewayHarness, startHarness } from './harness.ts';
import { send } from './http-client.ts';

let harness: GatewayHarness;
let clock = 1_000_000;

beforeAll(async () => {
  harness = await startHarness({ SESSION_COOKIE: 'desk' }, () => clock);
});

afterAll(() => harness.stop());

const get = (path: string) => harness.callBare('GET', path);

it('answers health and readiness without a credential, and metrics on the internal port only', async () => {
  expect(await get('/healthz')).toMatchObject({ status: 200, json: { status: 'ok' } });
  expect(await get('/readyz')).toMatchObject({
    status: 200,
    json: { status: 'ready', dependencies: { issuer: 'up' } },
  });
  expect((await get('/metrics')).status).toBe(401);
  expect((await send(harness.gateway.ports.internal, 'GET', '/metrics')).status).toBe(200);
});

describe('the description of the API', () => {
  it('is that of the gateway and of every service that was seen', async () => {
    const before = await get('/openapi.json');
    expect(before.status).toBe(200);
    expect(Object.keys(before.json.paths)).toEqual(['/auth/session']);
    expect(before.json.components.securitySchemes.cookieAuth.name).toBe('desk');
    expect(before.json.servers).toEqual([{ url: '/' }]);

    const served = upstreams.flatMap(({ contracts }) =>
      contracts.map((service) => ({ service, handlers: new Map(service.methods.map((method) => [method, null])) })),
    );
    const document = openApiDocument({ title: 'Tickets', version: '1', served });
    harness.stub.describes(document);
    clock += 250;
    const whole = (await get('/openapi.json')).json;
    expect(Object.keys(whole.paths)).toEqual(['/auth/session', ...Object.keys(document.paths)]);
    expect(referencesOf(whole).filter((reference) => !isThere(whole, reference))).toEqual([]);

    harness.stub.describes(undefined);
    clock += 60_000;
    expect((await get('/openapi.json')).json).toEqual(whole);
    expect((await get('/docs/json')).json).toEqual(whole);
  });
});

describe('the reference page', () => {
  it('takes everything from here', async () => {
    for (const path of ['/docs', '/docs/']) {
      const page = await get(path);
      expect(page.status).toBe(200);
      expect(page.headers['content-type']).toContain('text/html');
      expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
      const html = page.body.toString();
      expect(html).not.toMatch(/(?:https?:)?\/\//);
      expect(html).not.toMatch(/<script>|\son\w+=/);
      const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(
        ([, asset = '']) => new URL(asset, 'http://a/docs/').pathname,
      );
      expect(assets.length).toBeGreaterThan(4);
      for (const asset of assets) {
        const answer = await get(asset);
        expect(answer.status).toBe(200);
        expect(answer.headers['x-content-type-options']).toBe('nosniff');
      }
    }
  });

  it('shows the name of the product, not the logo of its framework and a field for other documents', async () => {
    const html = (await get('/docs')).body.toString();
    expect(html).toContain('<title>Ticketing API</title>');
    expect(html).toContain('href="/docs/static/theme/icon.svg"');
    expect(html).not.toContain('favicon');
    expect((await get('/docs/static/swagger-initializer.js')).body.toString()).toMatch(/"?layout"?: ?"BaseLayout"/);
    expect((await get('/openapi.json')).json.info.title).toBe('Ticketing API');
  });

  it('is all that is public', async () => {
    expect((await get('/docsx')).status).toBe(401);
    expect((await get('/docs/../ticket/1')).status).toBe(400);
  });
});

function referencesOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' ? [String(inner)] : referencesOf(inner)));
}

function isThere(document: unknown, reference: string): boolean {
  const names = reference.slice(2).split('/');
  return (
    names.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document) !== undefined
  );
}
