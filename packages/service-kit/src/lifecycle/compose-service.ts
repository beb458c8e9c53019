import type { Configuration } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import type { Print } from '@ticketing/events/operations.ts';
import type { Relay } from '@ticketing/events/outbox/relay.ts';
import type { ConfigReader, Environment } from '@ticketing/runtime/config-reader.ts';
import { createLogger, type Logger } from '@ticketing/runtime/logger.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { serviceNamed } from '@ticketing/system/services.ts';
import { defaultServerLimits } from '../config/server-limits.ts';
import { readServiceConfig } from '../config/service-config.ts';
import type { OperationRequest } from '../operations/operation-request.ts';
import { hasOperation } from '../operations/operations.ts';
import type { Ports } from '../server/http-server.ts';
import { type Composition, checkComposition } from './composition.ts';
import { type Kit, type KitOverrides, openKit } from './kit.ts';
import { openServers } from './open-servers.ts';
import { operate } from './operate.ts';
import { setUpService } from './set-up-service.ts';
import { startBackground } from './start-background.ts';

/** The parts that only one service has. Everything else follows from its entry in packages/system. */
export interface ServiceDefinition<Own, Settings> {
  /** The name of its entry in packages/system. */
  name: string;
  /** Reads the variables that only this service has. */
  readConfig?(from: ConfigReader): Own;
  /** Picks the settings that it uses from the configuration of the installation. */
  readSettings?(configuration: Configuration): Settings;
  /** Creates missing indexes of its database. Other processes of the service may be serving requests meanwhile. */
  setUpStore?(connection: Database['connection']): Promise<void>;
  /** Makes the parts of the service. */
  compose(kit: Kit<Own, Settings>): Composition | Promise<Composition>;
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
   * Errors: an operation that the service does not have; as of setUp.
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
 * Composes a service from its definition and its entry. Its parts are opened in one order and closed in the reverse
 * order, also when one of them cannot be opened.
 */
export function composeService<Own = unknown, Settings = unknown>(
  definition: ServiceDefinition<Own, Settings>,
): Service<Settings> {
  const entry = serviceNamed(definition.name);
  const readOwn = (from: ConfigReader) => definition.readConfig?.(from) ?? ({} as Own);
  const configOf = (environment: Environment) => readServiceConfig(entry, environment, readOwn);
  const readSettings = (configuration: Configuration) => definition.readSettings?.(configuration) as Settings;

  const start: Service<Settings>['start'] = async (environment = process.env, overrides = {}) => {
    const config = configOf(environment);
    const log = createLogger(entry.name, config.logLevel);
    let relay: Relay | undefined;
    const stopping = new AbortController();
    const closing = new AbortController();
    const opened = new AsyncDisposableStack();
    try {
      const { runtime = systemRuntime, settings } = overrides;
      const limits = { ...defaultServerLimits, ...overrides.limits };
      const wakeRelay = () => relay?.wake();
      const kit = await openKit(
        {
          entry,
          config,
          log,
          runtime,
          limits,
          pageLimits: overrides.pageLimits,
          readDisk: overrides.readDisk,
          readSettings,
          settings,
          wakeRelay,
          stopping: stopping.signal,
          closing: closing.signal,
        },
        opened,
      );
      const composition = await definition.compose(kit);
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
  };

  const setUp: Service<Settings>['setUp'] = (environment = process.env) =>
    setUpService(entry, configOf(environment), definition.setUpStore);

  return {
    name: entry.name,
    start,
    setUp,
    async operate({ name, ...args }, print, environment = process.env) {
      if (!hasOperation(entry, name)) throw new Error(`The ${entry.name} service has no operation ${name}.`);
      // A restored database has no indexes yet, or those of an older version.
      if (name === 'set-up' || name === 'apply-ledger') await setUp(environment);
      if (name === 'set-up') return 0;
      const service = { entry, config: configOf(environment), readSettings, compose: definition.compose };
      return operate(service, { name, ...args }, print);
    },
  };
}
