import type { Configuration } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import type { Print } from '@ticketing/events/operations.ts';
import type { Relay } from '@ticketing/events/outbox/relay.ts';
import type { ConfigReader, Environment } from '@ticketing/runtime/config-reader.ts';
import { createLogger, type Logger } from '@ticketing/runtime/logger.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { type ServiceEntry, serviceNamed } from '@ticketing/system/services.ts';
import { readServiceConfig, type ServiceConfig } from '../config/service-config.ts';
import type { OperationRequest } from '../operations/operation-request.ts';
import { hasOperation } from '../operations/operations.ts';
import type { Ports } from '../server/http-server.ts';
import { type Composition, checkComposition } from './composition.ts';
import { type BareKit, type Kit, type KitOverrides, openBareKit, openKit } from './kit.ts';
import { openServers } from './open-servers.ts';
import { type OpenService, operate } from './operate.ts';
import { setUpService } from './set-up-service.ts';
import { startBackground } from './start-background.ts';

/** The parts that only one service has. Everything else follows from its entry in packages/system. */
interface Definition<Own, OwnKit> {
  /** The name of its entry in packages/system. */
  name: string;
  /** Reads the variables that only this service has. */
  readConfig?(from: ConfigReader): Own;
  /** Makes the parts of the service. */
  compose(kit: OwnKit): Composition | Promise<Composition>;
}

/** The definition of a service without a database. */
export type BareServiceDefinition<Own> = Definition<Own, BareKit<Own>>;

/** The definition of a service with a database. */
export interface ServiceDefinition<Own, Settings> extends Definition<Own, Kit<Own, Settings>> {
  /** Picks the settings that it uses from the configuration of the installation. */
  readSettings?(configuration: Configuration): Settings;
  /** Creates missing indexes of its database. Unless it is new, other processes of the service may be using it meanwhile. */
  setUpStore?(connection: Database['connection'], isNew: boolean): Promise<void>;
}

/** A service that can be set up, started and operated. */
export interface Service<Settings = unknown> {
  name: string;
  /**
   * Creates the indexes and topics that the service needs, where they are missing.
   *
   * Errors: a ConfigError; a database or a bus that does not respond within a minute; a database of an older version.
   */
  setUp(environment?: Environment): Promise<void>;
  /** Starts a process of the service. Errors: a ConfigError; a key file that is not usable; a port that is taken. */
  start(environment?: Environment, overrides?: KitOverrides<Settings>): Promise<RunningService>;
  /**
   * Carries out an operator's request while the service may be running. Returns how many items are left to do.
   *
   * Errors: an Error, if the service does not have the operation; those of `setUp`.
   */
  operate(request: OperationRequest, print: Print, environment?: Environment): Promise<number>;
}

/** A service that is running. */
export interface RunningService {
  ports: Ports;
  log: Logger;
  /** Stops in this order: not ready, servers drained, background work ended, stores closed. */
  stop(): Promise<void>;
}

/**
 * Composes a service with a database from its definition and its entry. Its parts are opened in one order and closed in
 * the reverse order, also when one of them cannot be opened.
 */
export function composeService<Own = unknown, Settings = unknown>(
  definition: ServiceDefinition<Own, Settings>,
): Service<Settings> {
  const readSettings = (configuration: Configuration) => definition.readSettings?.(configuration) as Settings;
  return toService(definition, definition.setUpStore, async (process, overrides, opened) => {
    const kit = await openKit({ process, overrides, readSettings }, opened);
    return { kit, compose: async () => definition.compose(kit) };
  });
}

/** Composes a service without a database, as `composeService` does. */
export function composeBareService<Own = unknown>(definition: BareServiceDefinition<Own>): Service<never> {
  return toService(definition, undefined, async (process, overrides, opened) => {
    const kit = await openBareKit(process, overrides, opened);
    return { kit, compose: async () => definition.compose(kit) };
  });
}

function toService<Own, Settings>(
  definition: Pick<Definition<Own, never>, 'name' | 'readConfig'>,
  setUpStore: ServiceDefinition<Own, Settings>['setUpStore'],
  open: OpenService<Own, Settings>,
): Service<Settings> {
  const entry = serviceNamed(definition.name);
  const readOwn = (from: ConfigReader) => definition.readConfig?.(from) ?? ({} as Own);
  const readEnvironment = (environment: Environment) => readServiceConfig(entry, environment, readOwn);
  const setUp: Service<Settings>['setUp'] = (environment = process.env) =>
    setUpService(entry, readEnvironment(environment), setUpStore);
  return {
    name: entry.name,
    start: async (environment = process.env, overrides = {}) =>
      startService(entry, readEnvironment(environment), overrides, open),
    setUp,
    async operate({ name, ...args }, print, environment = process.env) {
      if (!hasOperation(entry, name)) throw new Error(`The ${entry.name} service has no operation ${name}.`);
      // A restored database has no indexes yet, or those of an older version.
      if (name === 'set-up' || name === 'apply-ledger') await setUp(environment);
      if (name === 'set-up') return 0;
      return operate({ entry, config: readEnvironment(environment), open }, { name, ...args }, print);
    },
  };
}

/** Starts a process: opens its kit, its background work and its servers. */
async function startService<Own, Settings>(
  entry: ServiceEntry,
  config: ServiceConfig & Own,
  overrides: KitOverrides<Settings>,
  open: OpenService<Own, Settings>,
): Promise<RunningService> {
  const log = createLogger(entry.name, config.logLevel);
  let relay: Relay | undefined;
  const wakeRelay = () => relay?.wake();
  const stopping = new AbortController();
  const closing = new AbortController();
  const opened = new AsyncDisposableStack();
  try {
    const process = { entry, config, log, wakeRelay, stopping: stopping.signal, closing: closing.signal };
    const { kit, compose } = await open(process, overrides, opened);
    const composition = await compose();
    const { web } = composition;
    if (web) opened.defer(() => web.close());
    checkComposition(entry, composition);
    relay = await startBackground(entry, kit, composition, opened);
    // Runs before `opened` waits for the background work, so that long runs end early.
    opened.defer(() => stopping.abort());
    const server = await openServers(entry, kit, composition);
    opened.defer(() => server.close(config.drainMs, () => closing.abort()));
    log.info({ ports: server.ports }, 'started');
    return {
      ports: server.ports,
      log,
      async stop() {
        kit.health.startStopping();
        await opened.disposeAsync();
      },
    };
  } catch (error) {
    await opened
      .disposeAsync()
      .catch((closeError: unknown) => log.error({ err: closeError }, 'not all parts were closed'));
    throw error;
  }
}
