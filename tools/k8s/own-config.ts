import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';
import { readGatewayConfig } from '../../services/gateway/src/config.ts';
import { readIntentsConfig } from '../../services/intents/src/config.ts';
import { readTemplatesConfig } from '../../services/templates/src/config.ts';
import { readTicketsConfig } from '../../services/tickets/src/config.ts';

const readers: Readonly<Record<string, (from: ConfigReader) => object>> = {
  gateway: readGatewayConfig,
  intents: readIntentsConfig,
  templates: readTemplatesConfig,
  tickets: readTicketsConfig,
};

/** Reads the variables that only this service has. */
export function findOwnConfig(service: string): (from: ConfigReader) => object {
  return readers[service] ?? (() => ({}));
}
