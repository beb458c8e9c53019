import { ConfigError, readConfig } from '@ticketing/runtime/config-reader.ts';
import { expect, it } from 'vitest';
import { readTlsConfig } from './tls-config.ts';

const scope = { service: 'tickets', services: ['tickets'] };

function read(variables: Record<string, string>, callsByRpc = false, others: Record<string, string> = {}) {
  const given = Object.entries(variables).map(([name, value]) => [`TICKETING_TICKETS_TLS_${name}`, value]);
  return readConfig({ ...Object.fromEntries(given), ...others }, scope, (from) => {
    from.optionalText('HOST');
    return readTlsConfig(from, callsByRpc);
  });
}

function findProblems(...given: Parameters<typeof read>): readonly string[] {
  try {
    read(...given);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
  }
  return [];
}

const own = { CERT_FILE: 'cert', KEY_FILE: 'key' };

it('uses no TLS by default', () => {
  const none = { certFile: undefined, keyFile: undefined, caFile: undefined, clientCaFile: undefined };
  expect(read({}, true)).toEqual({ ...none, reloadMs: 10_000 });
});

it('accepts listeners with TLS, calls with TLS, and both', () => {
  expect(read(own)).toMatchObject({ certFile: 'cert', keyFile: 'key' });
  expect(read({ CA_FILE: 'ca' }, true)).toMatchObject({ caFile: 'ca' });
  expect(read({ ...own, CA_FILE: 'ca', CLIENT_CA_FILE: 'clients' }, true)).toMatchObject({ clientCaFile: 'clients' });
});

it('refuses a certificate without its key, and a key without its certificate', () => {
  const sentence = 'TLS_CERT_FILE and TLS_KEY_FILE must be set together.';
  expect(findProblems({ CERT_FILE: 'cert' })).toEqual([sentence]);
  expect(findProblems({ KEY_FILE: 'key' })).toEqual([sentence]);
});

it('refuses to demand certificates without having one', () => {
  expect(findProblems({ CLIENT_CA_FILE: 'clients' })).toEqual([
    'TLS_CLIENT_CA_FILE needs TLS_CERT_FILE: only a listener with TLS can demand certificates.',
  ]);
});

// asvs: 12.3.3
it('refuses listeners with TLS beside calls without, because calls carry tokens', () => {
  expect(findProblems(own, true)).toEqual([
    'TLS_CA_FILE must be set with TLS_CERT_FILE: the calls of this service carry tokens.',
  ]);
  expect(findProblems(own, false)).toEqual([]);
});

it('refuses to listen on localhost with TLS', () => {
  const host = { TICKETING_TICKETS_HOST: 'localhost' };
  expect(findProblems(own, false, host)).toEqual([
    'HOST must be an address, not localhost, where TLS_CERT_FILE is set.',
  ]);
  expect(findProblems({}, false, host)).toEqual([]);
  expect(findProblems(own, false, { TICKETING_TICKETS_HOST: '127.0.0.1' })).toEqual([]);
});

it('bounds how often the files are read again', () => {
  expect(read({ RELOAD_MS: '100' }).reloadMs).toBe(100);
  expect(findProblems({ RELOAD_MS: '99' })).toHaveLength(1);
  expect(read({ RELOAD_MS: '3600000' }).reloadMs).toBe(3_600_000);
  expect(findProblems({ RELOAD_MS: '3600001' })).toHaveLength(1);
});
