import { ConfigError, type Environment } from '@ticketing/runtime/config-reader.ts';
import { readServiceConfig } from '@ticketing/service-kit/config/service-config.ts';
import { serviceNamed, variableName } from '@ticketing/system/services.ts';
import { expect, it } from 'vitest';
import { readGatewayConfig } from './config.ts';
import { keepUnusedMs } from './proxy/upstream-agent.ts';

const readAll = (environment: Environment) =>
  readServiceConfig(serviceNamed('gateway'), environment, readGatewayConfig);

const required = {
  TICKETING_GATEWAY_ISSUER: 'https://issuer.example',
  TICKETING_GATEWAY_JWKS_URL: 'https://issuer.example/jwks',
  TICKETING_GATEWAY_SIGNING_KEY_FILE: '/keys/gateway.json',
  ...Object.fromEntries(
    serviceNamed('gateway').calls.map((name) => [
      variableName('gateway', `${name.toUpperCase()}_URL`),
      `http://${name}:8080`,
    ]),
  ),
};

it('drains by default for longer than it keeps connections to services that it does not use', () => {
  expect(readAll(required).drainMs).toBeGreaterThan(keepUnusedMs);
});

it('has a default for every variable that is not required', () => {
  const config = readAll(required);
  expect(config).toMatchObject({
    httpPort: 8080,
    sessionCookie: '__Host-ticketing_session',
    deadlineMs: 30_000,
    trustedProxies: [],
  });
  expect(config.rateLimits).toEqual({
    user: 600,
    vendor: 600,
    vendorPartner: 600,
    serviceWorker: 60_000,
    codeExecutor: 60_000,
    system: 60_000,
  });
});

it.each(['http://user@tickets:8081', 'http://user:secret@tickets:8081', 'http://tickets:8081/base?x'])(
  // guarantee: C18
  'refuses the URL %s of a service, and does not repeat it',
  (url) => {
    const read = () => readAll({ ...required, TICKETING_GATEWAY_TICKETS_URL: url });
    expect(read).toThrow(new ConfigError(['TICKETS_URL must have no path, query or credentials']));
  },
);

it('reads the rate limits that are given and keeps the defaults of the others', () => {
  const { rateLimits } = readAll({ ...required, TICKETING_GATEWAY_RATE_LIMITS: 'user=10, system=20' });
  expect(rateLimits).toMatchObject({ user: 10, system: 20, vendor: 600 });
});

it('refuses plain URLs of services beside the authorities of their certificates', () => {
  const plain = { ...required, TICKETING_GATEWAY_TLS_CA_FILE: '/ca.pem' };
  expect(() => readAll(plain)).toThrow('TICKETING_GATEWAY_TICKETS_URL must be a URL that starts with https:');
  const secured = Object.entries(plain).map(([name, value]) => [name, value.replace('http:', 'https:')]);
  expect(readAll(Object.fromEntries(secured)).upstreamUrls.get('tickets')).toBe('https://tickets:8080');
});

it('reports all problems at once', () => {
  const read = () =>
    readAll({
      TICKETING_GATEWAY_TICKETS_URL: 'http://tickets:8081/base',
      TICKETING_GATEWAY_RATE_LIMITS: 'admin=5,user=0,vendor',
      TICKETING_GATEWAY_PUBLIC_ORIGIN: 'https://tickets.example/',
      TICKETING_GATEWAY_SESSION_COOKIE: 'a b',
      TICKETING_GATEWAY_TRUSTED_PROXIES: '10.0.0.0/8,load-balancer,::/129',
      TICKETING_GATEWAY_DEADLINE_MS: '5s',
      TICKETING_GATEWAY_PORT: '80',
    });
  expect(read).toThrow(ConfigError);
  for (const part of [
    'TICKETS_URL must have no path',
    'not "admin=5"',
    'not "user=0"',
    'not "vendor"',
    'PUBLIC_ORIGIN must be',
    'SESSION_COOKIE must be',
    'TRUSTED_PROXIES must be like 10.1.0.0/16,fd00::/8,127.0.0.1; not "load-balancer"',
    'not "::/129"',
    'DEADLINE_MS must be',
    'ISSUER is required',
    'Exactly one of',
    'TICKETING_GATEWAY_PORT is not a variable',
  ]) {
    expect(read).toThrow(part);
  }
});
