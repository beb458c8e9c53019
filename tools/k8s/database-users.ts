import { type Environment, readConfig } from '@ticketing/runtime/config-reader.ts';
import { readDatabaseUser, readStoreConfig, type StoreConfig } from '@ticketing/store/connection/store-config.ts';
import { services, variableName } from '@ticketing/system/services.ts';
import { UsageError } from '../cli/command.ts';

const withStore = services.flatMap(({ name, hasStore }) => (hasStore ? [name] : []));

/**
 * Reads where each service with a store has its database: `TICKETING_<SERVICE>_MONGODB_URI`, else `MONGODB_URI`, and
 * `TICKETING_<SERVICE>_MONGODB_DATABASE`.
 *
 * Errors: UsageError, if a service has no URI; ConfigError for a URI that is none, and for one of an unknown service or of
 * one without a store.
 */
export function readStores(environment: Environment): ReadonlyMap<string, StoreConfig> {
  const given = Object.entries(environment).filter(([name]) => /^TICKETING_.*_MONGODB_(URI|DATABASE)$/.test(name));
  const variables = Object.fromEntries(given);
  for (const service of withStore) variables[uriVariable(service)] ||= environment.MONGODB_URI;
  const missing = withStore.map(uriVariable).filter((name) => !variables[name]);
  if (missing.length > 0) {
    throw new UsageError(`Neither MONGODB_URI nor ${missing.join(', ')} is set; --help explains them.`);
  }
  const names = services.map(({ name }) => name);
  const stores = services.flatMap(({ name, hasStore }) => {
    const scope = { service: name, services: names };
    const store = readConfig(variables, scope, (from) => (hasStore ? readStoreConfig(from, name) : undefined));
    return store ? [[name, store] as const] : [];
  });
  return new Map(stores);
}

/**
 * The commands for mongosh that create the users of URIs, one for each service, who may read and write the database of that
 * service and no other.
 *
 * Errors: UsageError, if a URI names no user with a password, or two of them the same one.
 * Source: docs/operations/kubernetes.md, Users of the databases.
 */
export function userCommands(stores: ReadonlyMap<string, StoreConfig>): string[] {
  const owners = new Map<string, string>();
  return [...stores].map(([service, { mongodbUri, database }]) => {
    const user = readDatabaseUser(mongodbUri);
    if (!user) throw new UsageError(`The MongoDB URI of ${service} names no user with a password.`);
    const key = JSON.stringify([user.source, user.name]);
    const other = owners.get(key);
    if (other !== undefined) {
      throw new UsageError(`${other} and ${service} have the same user, ${user.name}: set ${uriVariable(service)}.`);
    }
    owners.set(key, service);
    const roles = [{ role: 'readWrite', db: database }];
    const definition = JSON.stringify({ user: user.name, pwd: user.password, roles });
    return `db.getSiblingDB(${JSON.stringify(user.source)}).createUser(${definition})`;
  });
}

function uriVariable(service: string): string {
  return variableName(service, 'MONGODB_URI');
}
