import { type BusConfig, readBusConfig } from '@ticketing/events/bus/bus-config.ts';
import { type Environment, readConfig } from '@ticketing/runtime/config-reader.ts';
import { readServiceConfig, type ServiceConfig } from '@ticketing/service-kit/config/service-config.ts';
import { readStoreConfig, type StoreConfig } from '@ticketing/store/store-config.ts';

/** The configuration of the tickets service. */
export interface TicketsConfig extends ServiceConfig {
  grpcPort: number;
  internalJwksFile: string;
  roles: readonly Role[];
  store: StoreConfig;
  bus: BusConfig;
}

const roles = ['api', 'relay', 'scheduler'] as const;

/** What a process does of the service's work. */
export type Role = (typeof roles)[number];

const prefix = 'TICKETING_TICKETS_';

/** Reads the configuration from the environment. Errors: a ConfigError with every problem. */
export function readTicketsConfig(environment: Environment = process.env): TicketsConfig {
  return readConfig(environment, prefix, (from) => ({
    ...readServiceConfig(from, { httpPort: 8081 }),
    grpcPort: from.port('GRPC_PORT', 9081),
    internalJwksFile: from.text('INTERNAL_JWKS_FILE'),
    roles: from.choices('ROLES', roles),
    store: readStoreConfig(from, 'ticketing_tickets'),
    bus: readBusConfig(from),
  }));
}
