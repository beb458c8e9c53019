import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { services } from '@ticketing/system/services.ts';
import { developmentKeys } from '@ticketing/testkit/development-keys.ts';
import { systemEnvironment } from '../dev/environment.ts';
import { openStore } from '../dev/store.ts';

/** The stores of a system that is stopped, and the variables of its services. */
export interface StoppedSystem {
  environment: Environment;
  close(): Promise<void>;
}

/**
 * Opens the stores of a system whose services are stopped: the server that `MONGODB_URI` names, or the embedded store in the
 * data folder. Errors: an embedded store that is in use.
 */
export async function openStoppedSystem(dataDir: string): Promise<StoppedSystem> {
  const store = await openStore(dataDir, process.env.MONGODB_URI);
  const ports = new Map(services.map(({ name }) => [name, { http: 0, grpc: 1, internal: 0 }]));
  const layout = { ports, keys: developmentKeys(dataDir), mongodbUri: store.uri, logLevel: 'silent' };
  return { environment: systemEnvironment(layout, process.env), close: store.stop };
}
