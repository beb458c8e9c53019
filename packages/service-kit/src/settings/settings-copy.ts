import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import {
  type Configuration,
  ConfigurationSchema,
  type ConfigurationService,
} from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { sharedRead } from '@ticketing/runtime/shared-read.ts';
import { spacedRead } from '@ticketing/runtime/spaced-read.ts';
import { openStoredCopy } from '@ticketing/store/cache/stored-copy.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { toSettings } from './known-settings.ts';

/**
 * How new settings must be: at most half a second old, or older while the store does not respond at once; as new as what any
 * replica of the service has read before; or as the settings service has them now, which a process asks once a second.
 */
export type SettingsAge = 'recent' | 'replicas' | 'owner';

/** The settings and subchannels of the installation, as a service keeps them in its own database. */
export interface SettingsCopy {
  /**
   * Returns the copy, by default a recent one; `defaultConfiguration` itself before the first copy was made. Read the
   * owner's one before a request is refused because of the copy.
   *
   * Errors: store_unavailable, if it was never read; those of `refresh`, for the copy of the owner.
   */
  read(age?: SettingsAge): Promise<Configuration>;
  /** Reads the configuration from the settings service and stores it, unless the copy is newer. Errors: settings_unavailable. */
  refresh(): Promise<void>;
}

const maxAgeMs = 500;
/** A read of the store that takes longer is not waited for: a request that reads more of it then fails in time. */
const patienceMs = 250;
/** How often a process asks the settings service for requests. */
const askEveryMs = 1_000;

/** The configuration of an installation where nothing was set yet. */
export const defaultConfiguration: Configuration = create(ConfigurationSchema, { settings: toSettings({}) });

/** Opens the copy in the database of a service. Source: docs/reference/architecture.md, Inside a service. */
export function openSettingsCopy(
  connection: Database['connection'],
  settingsService: () => Client<typeof ConfigurationService>,
): SettingsCopy {
  const copy = openStoredCopy(connection, 'configuration');
  let newest: Configuration | undefined;
  // By a clock that never goes back.
  let readAt = Number.NEGATIVE_INFINITY;
  let hasRead = false;

  const readAgain = sharedRead(async () => {
    const content = await copy.newerThan(newest?.version ?? -1);
    if (content) newest = fromBinary(ConfigurationSchema, content);
    readAt = performance.now();
    hasRead = true;
    return newest ?? defaultConfiguration;
  });

  async function copyFromOwner(): Promise<void> {
    const { configuration } = await settingsService().getConfiguration({});
    if (!configuration) throw new Error('the settings service has returned no configuration');
    await copy.replace(configuration.version, toBinary(ConfigurationSchema, configuration));
    readAt = Number.NEGATIVE_INFINITY;
  }

  const refresh = () => copyFromOwner().catch(unavailable);

  const askOwner = spacedRead(async () => {
    await refresh();
    return readAgain();
  }, askEveryMs);

  return {
    async read(age = 'recent') {
      if (age === 'owner') return askOwner();
      if (age === 'replicas') return readAgain();
      const known = newest ?? defaultConfiguration;
      if (performance.now() - readAt < maxAgeMs) return known;
      return hasRead ? withPatience(readAgain(), known) : readAgain();
    },
    refresh,
  };
}

/** Counts any failure as transient: events that need the settings are handled again. */
function unavailable(error: unknown): never {
  const detail = 'The settings cannot be read from the settings service.';
  throw new DomainError('unavailable', 'settings_unavailable', detail, { cause: error, retryAfterSeconds: 5 });
}

/** Resolves with the known value if reading fails or takes long. */
function withPatience<Read>(reading: Promise<Read>, known: Read): Promise<Read> {
  const { promise, resolve } = Promise.withResolvers<Read>();
  const timer = setTimeout(resolve, patienceMs, known);
  void reading
    .catch(() => known)
    .then(resolve)
    .finally(() => clearTimeout(timer));
  return promise;
}
