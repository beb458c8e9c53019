import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '@ticketing/runtime/config-reader.ts';

/** Where a running development system says how its services are configured. */
export function environmentFile(dataDir: string): string {
  return join(dataDir, 'environment.json');
}

/** Says how the services are configured, for scripts that look after them. Answers how to take it back. */
export function publishEnvironment(dataDir: string, environment: Environment): () => void {
  const file = environmentFile(dataDir);
  const ours = Object.entries(environment).filter(([name]) => name.startsWith('TICKETING_'));
  rmSync(file, { force: true });
  writeFileSync(file, JSON.stringify(Object.fromEntries(ours), null, 2), { mode: 0o600 });
  return () => rmSync(file, { force: true });
}
