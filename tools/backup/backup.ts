import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { type CopiedCollection, copyDatabase, describeDatabase } from '@ticketing/store/connection/database-copy.ts';
import { backupSighting, openLastSeen } from '@ticketing/store/leases/last-seen.ts';
import { UsageError } from '../cli/command.ts';
import { systemDatabases, withDatabase } from './stores.ts';

/** The contents of a backup, as its file `manifest.json` lists them. */
export interface Manifest {
  format: 1;
  takenAt: string;
  /** The collections of each database, by its name. */
  databases: Record<string, CopiedCollection[]>;
}

const manifestName = 'manifest.json';

/**
 * Copies all databases of the system into a new folder. When all are copied they are read once more: if nothing has changed,
 * the copy is the state of all of them at the moment between, as if it was taken at once.
 *
 * Errors: UsageError, if the folder exists, or if a database was changed meanwhile.
 */
export async function createBackup(environment: Environment, folder: string, now: () => Date): Promise<Manifest> {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    throw new UsageError(`${folder} cannot be made; name a new folder in one that exists.`, { cause: error });
  }
  const found = systemDatabases(environment);
  const databases: Manifest['databases'] = {};
  for (const one of found) {
    databases[one.name] = await withDatabase(one, (connection) => copyDatabase(connection, join(folder, one.name)));
  }
  for (const one of found) {
    const again = await withDatabase(one, describeDatabase);
    const copied = databases[one.name] ?? [];
    const changed = differences(copied, again);
    if (changed.length > 0) {
      throw new UsageError(
        `The backup is not complete: ${changed.map((name) => `${one.name}.${name}`).join(', ')} has changed meanwhile. Stop all processes of the services first.`,
      );
    }
  }
  const manifest: Manifest = { format: 1, takenAt: now().toISOString(), databases };
  // Written last: a folder without it is no backup.
  writeFileSync(join(folder, manifestName), JSON.stringify(manifest, null, 2), { mode: 0o600 });
  for (const one of found.filter(({ name }) => name !== 'bus')) {
    await withDatabase(one, (connection) => openLastSeen(connection).note([backupSighting]));
  }
  return manifest;
}

/** Reads the manifest of a backup. Errors: UsageError, if the folder is no complete backup. */
export function readManifest(folder: string): Manifest {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, manifestName), 'utf8')) as Manifest;
    if (manifest.format !== 1) throw new Error(`its format is ${manifest.format}`);
    return manifest;
  } catch (error) {
    throw new UsageError(`${folder} is no complete backup.`, { cause: error });
  }
}

/** How many documents a backup has. */
export function documentsIn({ databases }: Manifest): number {
  return Object.values(databases)
    .flat()
    .reduce((sum, { documents }) => sum + documents, 0);
}

function differences(before: readonly CopiedCollection[], after: readonly CopiedCollection[]): string[] {
  const hashes = (all: readonly CopiedCollection[]) => new Map(all.map(({ name, sha256 }) => [name, sha256]));
  const [old, current] = [hashes(before), hashes(after)];
  return [...new Set([...old.keys(), ...current.keys()])].filter((name) => old.get(name) !== current.get(name));
}
