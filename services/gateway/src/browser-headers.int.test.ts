import { expect, it, onTestFinished } from 'vitest';
import { startHarness } from '../test/harness.ts';

const everywhere = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

async function responses(variables: Record<string, string>) {
  const harness = await startHarness(variables);
  onTestFinished(() => harness.stop());
  const refused = ['/ticket/1', '/nowhere', '/openapi.json', '/asyncapi.json', '/healthz', '/readyz', '/docs'];
  return [
    await harness.call('GET', '/ticket/1'),
    await harness.call('POST', '/auth/session'),
    ...(await Promise.all(refused.map((path) => harness.callBare('GET', path)))),
    await harness.callBare('POST', '/healthz'),
  ];
}

// asvs: 3.2.1, 3.4.2, 3.4.3-3.4.6, 3.5.8, 13.4.6
it('every response keeps browsers from guessing its type, framing or embedding it, and from saying where it was', async () => {
  for (const { headers } of await responses({})) {
    expect(headers).toMatchObject(everywhere);
    const policy = headers['content-security-policy'];
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).toMatch(/base-uri 'none'/);
    expect(policy).toMatch(/frame-ancestors 'none'/);
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(headers).not.toHaveProperty('server');
    expect(headers).not.toHaveProperty('x-powered-by');
    // The header would bind all other programs on this host.
    expect(headers).not.toHaveProperty('strict-transport-security');
  }
});

// asvs: 3.4.1
it('every response of a public https origin binds browsers to https, also for its subdomains', async () => {
  for (const { headers } of await responses({ PUBLIC_ORIGIN: 'https://tickets.example.com' })) {
    expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
  }
});
