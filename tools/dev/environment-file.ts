import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '@ticketing/runtime/config-reader.ts';

/** The file in which a running development system keeps the variables of its services. */
export function environmentFile(dataDir: string): string {
  return join(dataDir, 'environment.json');
}

/**
 * Writes the variables of the services to that file, where `npm run events` and the fault tests read them. Returns a
 * function that removes the file.
 */
export function publishEnvironment(dataDir: string, environment: Environment): () => void {
  const file = environmentFile(dataDir);
  const serviceVariables = Object.entries(environment).filter(([name]) => name.startsWith('TICKETING_'));
  rmSync(file, { force: true });
  writeFileSync(file, JSON.stringify(Object.fromEntries(serviceVariables), null, 2), { mode: 0o600 });
  return () => rmSync(file, { force: true });
}
