import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import {
  type Configuration,
  ConfigurationSchema,
  type ConfigurationService,
} from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { sharedRead } from '@ticketing/runtime/shared-read.ts';
import type { Database } from '@ticketing/store/database.ts';
import { openStoredCopy } from '@ticketing/store/stored-copy.ts';
import { settingsOf } from './known-settings.ts';

/** The settings and subchannels of the installation, as a service keeps them in its own database. */
export interface ConfigurationCopy {
  /**
   * The copy, at most half a second old, or older while the store does not respond at once; `defaultConfiguration` itself
   * before the first copy was made. Errors: store_unavailable, if it was never read. A `fresh` read is as new as what any
   * replica has read before it.
   */
  read(fresh?: boolean): Promise<Configuration>;
  /** Reads the configuration from the settings service and stores it, unless the copy is newer. */
  refresh(): Promise<void>;
}

const maxAgeMs = 500;
/** A read of the store that takes longer is not waited for: a request that reads more of it then fails in time. */
const patienceMs = 250;

/** The configuration of an installation where nothing was set yet. */
export const defaultConfiguration: Configuration = create(ConfigurationSchema, { settings: settingsOf({}) });

/** Opens the copy in the database of a service. Source: docs/reference/architecture.md, Inside a service. */
export function openConfigurationCopy(
  connection: Database['connection'],
  settingsService: () => Client<typeof ConfigurationService>,
): ConfigurationCopy {
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

  return {
    async read(fresh = false) {
      if (fresh) return readAgain();
      const known = newest ?? defaultConfiguration;
      if (performance.now() - readAt < maxAgeMs) return known;
      return hasRead ? withPatience(readAgain(), known) : readAgain();
    },
    async refresh() {
      const { configuration } = await settingsService().getConfiguration({});
      if (!configuration) throw new Error('the settings service has returned no configuration');
      await copy.replace(configuration.version, toBinary(ConfigurationSchema, configuration));
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Resolves with what is known if reading fails or takes long. */
function withPatience<Read>(reading: Promise<Read>, known: Read): Promise<Read> {
  const { promise, resolve } = Promise.withResolvers<Read>();
  const timer = setTimeout(resolve, patienceMs, known);
  void reading
    .catch(() => known)
    .then(resolve)
    .finally(() => clearTimeout(timer));
  return promise;
}
