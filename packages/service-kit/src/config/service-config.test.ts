import { ConfigError, type Environment } from '@ticketing/runtime/config-reader.ts';
import { serviceNamed, variableName } from '@ticketing/system/services.ts';
import { describe, expect, it } from 'vitest';
import { readServiceConfig } from './service-config.ts';

const entry = serviceNamed('tickets');
const required = {
  ISSUER: 'https://issuer.example',
  JWKS_URL: 'https://issuer.example/jwks',
  SIGNING_KEY_FILE: '/keys/tickets.json',
  INTERNAL_JWKS_FILE: '/keys/all.json',
  MONGODB_URI: 'mongodb://store',
  KAFKA_BROKERS: 'broker:9092',
  ...Object.fromEntries(entry.calls.map((name) => [`${name.toUpperCase()}_TARGET`, `${name}:9000`])),
};

const named = (variables: Record<string, string>): Environment =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [variableName(entry.name, name), value]));
const read = (variables: Record<string, string> = {}) =>
  readServiceConfig(entry, named({ ...required, ...variables }), () => ({}));

/** The problems of a configuration, without the prefix of its variables. */
function problemsWith(variables: Record<string, string>): readonly string[] {
  try {
    read(variables);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => problem.replace('TICKETING_TICKETS_', ''));
    throw error;
  }
}

describe('the key URL of the issuer', () => {
  it.each([
    'https://issuer.example/jwks?v=1',
    'http://127.0.0.1:8080/jwks',
    'http://127.9.9.9',
    'http://localhost:1/jwks',
    'http://[::1]:1/jwks',
  ])('may be %s', (url) => {
    expect(problemsWith({ JWKS_URL: url })).toEqual([]);
  });

  it.each([
    'http://issuer.example/jwks',
    'http://127.0.0.1.example/jwks',
    'http://localhost.example/jwks',
    'https://user@issuer.example/jwks',
    'https://:secret@issuer.example/jwks',
    'http://user:secret@localhost/jwks',
    'file:///keys',
    'issuer.example',
    // guarantee: C18
  ])('may not be %s', (url) => {
    expect(problemsWith({ JWKS_URL: url })).toEqual([
      'JWKS_URL must be an https URL without user info (http only on a loopback address)',
    ]);
  });
});

describe('a MongoDB URI', () => {
  it.each([
    'mongodb://user:p%40ss@a,b:27018/?replicaSet=x&w=majority',
    'mongodb+srv://store.example',
    'mongodb://%2Ftmp%2Fmongodb.sock',
  ])('may be %s', (uri) => {
    expect(problemsWith({ MONGODB_URI: uri })).toEqual([]);
  });

  it.each([
    'mongodb://user:p@ss@host',
    'mongodb://user:secret@',
    'mongodb://user:secret@host:port',
    'mongodb://user:secret@host/?w=majority&unknownOption=1',
    'mongodb://user:secret@host/?tls=perhaps',
    'http://user:secret@host',
    'secret',
    // guarantee: C18
  ])('that the driver cannot parse is one problem, which repeats nothing of it: %s', (uri) => {
    const { KAFKA_BROKERS: _, ...withoutBus } = required;
    const start = () =>
      readServiceConfig(entry, named({ ...withoutBus, MONGODB_URI: uri, EVENT_LOG_MONGODB_URI: uri }), () => ({}));
    expect(start).toThrow(
      new ConfigError(
        ['MONGODB_URI', 'EVENT_LOG_MONGODB_URI'].map(
          (name) => `${variableName('tickets', name)} must be a MongoDB URI that the driver can parse`,
        ),
      ),
    );
  });
});

describe('credentials for brokers', () => {
  const credentials = { KAFKA_USERNAME: 'u', KAFKA_PASSWORD: 'p' };

  // guarantee: C18
  // asvs: 12.3.1
  it('are sent by TLS only, unless a test allows it otherwise', () => {
    expect(problemsWith(credentials)).toEqual([expect.stringContaining('KAFKA_USERNAME requires KAFKA_TLS=true')]);
    expect(problemsWith({ ...credentials, KAFKA_TLS: 'true' })).toEqual([]);
    expect(problemsWith({ ...credentials, KAFKA_ALLOW_PLAINTEXT_CREDENTIALS: 'true' })).toEqual([]);
    expect(problemsWith({ KAFKA_TLS: 'false' })).toEqual([]);
  });
});

describe('the address of the internal port', () => {
  it('is that of the other ports unless it is given', () => {
    expect(read()).toMatchObject({ host: '0.0.0.0', internalHost: '0.0.0.0' });
    expect(read({ HOST: '10.0.0.1' })).toMatchObject({ internalHost: '10.0.0.1' });
    expect(read({ HOST: '10.0.0.1', INTERNAL_HOST: '127.0.0.1' })).toMatchObject({
      host: '10.0.0.1',
      internalHost: '127.0.0.1',
    });
  });
});

describe('the addresses to which outbound requests may be sent', () => {
  const given = named({ ...required, OUTBOUND_ALLOW: '10.0.0.1' });

  it('are read for a service that makes such requests', () => {
    const config = readServiceConfig({ ...entry, makesOutboundRequests: true }, given, () => ({}));
    expect(config.outbound).toEqual({
      allow: [{ address: '10.0.0.1', prefix: 32, family: 'ipv4' }],
      requireHttps: true,
    });
  });

  it('are not a variable of other services', () => {
    const problem = `${variableName(entry.name, 'OUTBOUND_ALLOW')} is not a variable of this system`;
    const read = () => readServiceConfig({ ...entry, makesOutboundRequests: false }, given, () => ({}));
    expect(read).toThrow(new ConfigError([problem]));
  });
});
