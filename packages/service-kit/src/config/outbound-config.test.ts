import { ConfigError, readConfig } from '@ticketing/runtime/config-reader.ts';
import { expect, it } from 'vitest';
import { readOutboundConfig } from './outbound-config.ts';

function read(variables: Record<string, string>) {
  const given = Object.entries(variables).map(([name, value]) => [`TICKETING_SETTINGS_OUTBOUND_${name}`, value]);
  return readConfig(Object.fromEntries(given), { service: 'settings', services: ['settings'] }, readOutboundConfig);
}

it('allows nothing and requires https by default', () => {
  expect(read({})).toEqual({ allow: [], requireHttps: true });
});

// guarantee: O11
it('reads addresses and ranges of both families', () => {
  expect(read({ ALLOW: '127.0.0.0/8, ::1,10.1.2.3', REQUIRE_HTTPS: 'false' })).toEqual({
    allow: [
      { address: '127.0.0.0', prefix: 8, family: 'ipv4' },
      { address: '::1', prefix: 128, family: 'ipv6' },
      { address: '10.1.2.3', prefix: 32, family: 'ipv4' },
    ],
    requireHttps: false,
  });
});

it.each(['localhost', '10.0.0.0/33', '127.0.0.1,', '10/8', '::ffff:10.0.0.0/104', 'https://10.0.0.1'])(
  'refuses %s',
  (allow) => {
    const wrong = allow === '127.0.0.1,' ? '' : allow;
    expect(() => read({ ALLOW: allow })).toThrow(
      new ConfigError([`OUTBOUND_ALLOW must be like 10.1.0.0/16,fd00::/8,127.0.0.1; not "${wrong}"`]),
    );
  },
);
