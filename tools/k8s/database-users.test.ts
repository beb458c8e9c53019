import { readFileSync } from 'node:fs';
import { readDatabaseUser } from '@ticketing/store/connection/store-config.ts';
import { services } from '@ticketing/system/services.ts';
import { describe, expect, it } from 'vitest';
import { readStores, userCommands } from './database-users.ts';
import { makeSecrets } from './secrets.ts';

const withStore = services.flatMap(({ name, hasStore }) => (hasStore ? [name] : []));
const toUri = (service: string) => `mongodb://of_${service}:p%22ss%2F${service}@store/?authSource=users`;
const own = Object.fromEntries(withStore.map((name) => [`TICKETING_${name.toUpperCase()}_MONGODB_URI`, toUri(name)]));

/** The users that commands create, by the names of their databases and their own. */
function createdBy(commands: readonly string[]): Map<string, object> {
  return new Map(
    commands.map((command) => {
      const [, source, user] = /^db\.getSiblingDB\((".*")\)\.createUser\((\{.*\})\)$/.exec(command) ?? [];
      const { user: name, ...rest } = JSON.parse(user ?? '');
      return [`${JSON.parse(source ?? '')} ${name}`, rest];
    }),
  );
}

describe('each service', () => {
  // asvs: 13.2.2
  it('has a user of its own in its secret, who is created with rights on its database only', () => {
    const stores = readStores({ ...own, TICKETING_TICKETS_MONGODB_DATABASE: 'elsewhere' });
    const users = createdBy(userCommands(stores));
    expect(users.size).toBe(withStore.length);
    const secrets = makeSecrets({ stores });
    const text = (name: string) => JSON.stringify(secrets.find(({ metadata }) => metadata.name === `${name}-secrets`));
    for (const name of withStore) {
      const secret = secrets.find(({ metadata }) => metadata.name === `${name}-secrets`);
      const user = readDatabaseUser(secret?.stringData.MONGODB_URI ?? '');
      expect(user).toEqual({ name: `of_${name}`, password: `p"ss/${name}`, source: 'users' });
      const db = name === 'tickets' ? 'elsewhere' : `ticketing_${name}`;
      expect(users.get(`users of_${name}`)).toEqual({ pwd: user?.password, roles: [{ role: 'readWrite', db }] });
      expect(withStore.filter((other) => text(name).includes(`of_${other}`))).toEqual([name]);
    }
  });

  it('has the URI for all without one of its own', () => {
    const stores = readStores({ MONGODB_URI: 'mongodb://all@store', TICKETING_INTENTS_MONGODB_URI: toUri('intents') });
    const uris = withStore.map((name) => stores.get(name)?.mongodbUri);
    expect(uris).toEqual(withStore.map((name) => (name === 'intents' ? toUri('intents') : 'mongodb://all@store')));
  });
});

it('docs/operations/kubernetes.md sets the variables of all services that have a database', () => {
  const document = readFileSync('docs/operations/kubernetes.md', 'utf8');
  const [, named = ''] = /for service in ([\w ]+); do\s+variable=/.exec(document) ?? [];
  expect(named.split(' ')).toEqual(withStore);
});

describe('refused is', () => {
  it.each([
    ['a service without a URI', { ...own, TICKETING_INTENTS_MONGODB_URI: '' }, 'nor TICKETING_INTENTS_MONGODB_URI is'],
    ['none at all', {}, 'Neither MONGODB_URI nor TICKETING_TICKETS_MONGODB_URI, '],
    ['an unknown service', { ...own, TICKETING_TICKET_MONGODB_URI: 'mongodb://store' }, 'TICKETING_TICKET_MONGODB_URI'],
    [
      'a service without a store',
      { ...own, TICKETING_GATEWAY_MONGODB_URI: 'mongodb://store' },
      'TICKETING_GATEWAY_MONGODB_URI',
    ],
    [
      'what is no URI',
      { ...own, MONGODB_URI: '', TICKETING_INTENTS_MONGODB_URI: 'postgres://store' },
      'must be a Mongo',
    ],
  ])('%s', (_, environment, message) => {
    expect(() => readStores(environment)).toThrow(message);
  });

  it.each([
    ['no user', 'mongodb://store'],
    ['no password', 'mongodb://someone@store'],
    ['a user whom the server does not keep', 'mongodb://CN%3Dsome@store/?authMechanism=MONGODB-X509'],
  ])('a URI with %s, for which none can be created', (_, uri) => {
    const stores = readStores({ ...own, TICKETING_INTENTS_MONGODB_URI: uri });
    expect(() => userCommands(stores)).toThrow('The MongoDB URI of intents names no user with a password.');
  });

  it('one user for two services', () => {
    const stores = readStores({ MONGODB_URI: 'mongodb://one:word@store' });
    expect(() => userCommands(stores)).toThrow('tickets and intents have the same user, one');
  });
});
