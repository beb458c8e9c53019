import { type BusConfig, readBusConfig } from '@ticketing/events/bus/bus-config.ts';
import { type Environment, readConfig } from '@ticketing/runtime/config-reader.ts';
import { readServiceConfig, type ServiceConfig } from '@ticketing/service-kit/config/service-config.ts';
import { readStoreConfig, type StoreConfig } from '@ticketing/store/store-config.ts';

/** The configuration of the reporting service. */
export interface ReportingConfig extends ServiceConfig {
  grpcPort: number;
  internalJwksFile: string;
  roles: readonly Role[];
  store: StoreConfig;
  bus: BusConfig;
  /** The gRPC address of the tickets service, as grpc-js names it. */
  ticketsTarget: string;
}

const roles = ['api', 'consumer', 'scheduler'] as const;

/** What a process does of the service's work. */
export type Role = (typeof roles)[number];

/** Reads the configuration from the environment. Errors: a ConfigError with every problem. */
export function readReportingConfig(environment: Environment = process.env): ReportingConfig {
  return readConfig(environment, 'TICKETING_REPORTING_', (from) => ({
    ...readServiceConfig(from, { httpPort: 8085 }),
    grpcPort: from.port('GRPC_PORT', 9085),
    internalJwksFile: from.text('INTERNAL_JWKS_FILE'),
    roles: from.choices('ROLES', roles),
    store: readStoreConfig(from, 'ticketing_reporting'),
    bus: readBusConfig(from),
    ticketsTarget: from.text('TICKETS_TARGET', { pattern: /^\S+:\d+$/, meaning: 'host:port, or dns:///host:port' }),
  }));
}
