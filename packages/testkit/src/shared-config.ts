import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { readServiceConfig, type ServiceConfig } from '@ticketing/service-kit/config/service-config.ts';
import { type ServiceEntry, variableName } from '@ticketing/system/services.ts';

/** Reads the configuration that every service has. Variables that only this service has are ignored. */
export function sharedConfig(entry: ServiceEntry, environment: Environment): ServiceConfig {
  const prefix = variableName(entry.name, '');
  return readServiceConfig(entry, environment, (from) => {
    for (const name of Object.keys(environment)) {
      if (name.startsWith(prefix)) from.optionalText(name.slice(prefix.length));
    }
    return {};
  });
}
