import { type Environment, readConfig } from '@ticketing/service-kit/config-reader.ts';
import { readServiceConfig, type ServiceConfig } from '@ticketing/service-kit/service-config.ts';

/** The configuration of the tickets service. */
export interface TicketsConfig extends ServiceConfig {
  grpcPort: number;
  internalJwksFile: string;
  roles: readonly Role[];
  store: StoreConfig;
}

const roles = ['api', 'scheduler'] as const;

/** What a process does of the service's work. */
export type Role = (typeof roles)[number];

/** Where the tickets are kept. */
export interface StoreConfig {
  mongodbUri: string;
  database: string;
}

const prefix = 'TICKETING_TICKETS_';

/** Reads the configuration from the environment. Errors: a ConfigError with every problem. */
export function readTicketsConfig(environment: Environment = process.env): TicketsConfig {
  return readConfig(environment, prefix, (from) => ({
    ...readServiceConfig(from, { httpPort: 8081 }),
    grpcPort: from.port('GRPC_PORT', 9081),
    internalJwksFile: from.text('INTERNAL_JWKS_FILE'),
    roles: from.choices('ROLES', roles),
    store: {
      mongodbUri: from.text('MONGODB_URI', { pattern: /^mongodb(?:\+srv)?:\/\/\S+$/, meaning: 'a MongoDB URI' }),
      database: from.text('MONGODB_DATABASE', { default: 'ticketing_tickets', pattern: /^\w{1,38}$/ }),
    },
  }));
}
