import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { UsageError } from '../cli/command.ts';

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
  // Readers of the file that a killed system has left find either the old one or the new one.
  const unfinished = `${file}.unfinished`;
  rmSync(unfinished, { force: true });
  writeFileSync(unfinished, JSON.stringify(Object.fromEntries(serviceVariables), null, 2), { mode: 0o600 });
  renameSync(unfinished, file);
  return () => rmSync(file, { force: true });
}

/** Reads the variables of the services of a running development system. Errors: UsageError if none runs on the folder. */
export function readEnvironment(dataDir: string): Environment {
  try {
    return JSON.parse(readFileSync(environmentFile(dataDir), 'utf8')) as Environment;
  } catch (error) {
    throw new UsageError(`No system is running on ${dataDir}; start one by npm start, or name its folder by --data.`, {
      cause: error,
    });
  }
}
