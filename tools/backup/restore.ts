import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Print } from '@ticketing/events/operations.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { foreignLedger, readLedger } from '@ticketing/service-kit/deletions/ledger-file.ts';
import { withoutLedger } from '@ticketing/service-kit/operations/operations.ts';
import { restoreDatabase } from '@ticketing/store/connection/database-copy.ts';
import { copiedStoreId } from '@ticketing/store/connection/store-format.ts';
import { services } from '@ticketing/system/services.ts';
import { UsageError } from '../cli/command.ts';
import { operateAll } from '../dev/load-services.ts';
import { documentsIn, type Manifest, readManifest } from './backup.ts';
import { runProgram } from './run-program.ts';
import { systemDatabases, withDatabase } from './stores.ts';

/** The backup to restore, and the changes since then. */
export interface RestoreOptions {
  /** The backup; undefined if other tools have restored all databases already. */
  folder: string | undefined;
  /** The ledger: what was deleted and handed out since the backup, as far as it is known. */
  ledger: string | undefined;
  /** How many ids of each sequence may have been handed out after what the ledger, or the backup, knows. */
  idMargin: number;
}

/**
 * Restores a backup into empty databases, while no process of the services runs: documents, indexes and topics, then the
 * deletions of the ledger, sequences of ids that go on after all that may have been handed out, and a feed that older cursors
 * are not valid for. Returns how many deletions could not be made again.
 *
 * Errors: UsageError, if the backup is damaged, or does not fit the system; a database that is not empty.
 */
export async function restoreBackup(
  environment: Environment,
  { folder, ledger, idMargin }: RestoreOptions,
  print: Print,
): Promise<number> {
  // Read first: nothing is restored without it.
  const readServiceLedger = ledger === undefined ? undefined : readLedger(ledger);
  if (folder !== undefined) {
    const manifest = readManifest(folder);
    if (readServiceLedger) await requireSameStores(folder, manifest, readServiceLedger);
    await restoreDatabases(environment, folder, manifest);
    print(`${documentsIn(manifest)} documents of ${manifest.takenAt} are restored`);
  }
  return operateAll({ name: 'apply-ledger', file: ledger, idMargin }, print, environment);
}

/**
 * Prepares the databases of a system, which other tools have restored, for the start of its services: each by a command
 * that runs the program of a service, for example in a container. In the command `{service}` stands for its name.
 * Returns how many services have failed; their output says why.
 */
export async function restoreBy(
  command: string,
  { ledger, idMargin }: Omit<RestoreOptions, 'folder'>,
  print: Print,
): Promise<number> {
  const [file, text] = ledger === undefined ? [withoutLedger] : ['-', readFileSync(ledger, 'utf8')];
  let failed = 0;
  for (const { name } of services.filter(({ hasStore }) => hasStore)) {
    const { code, output } = await runProgram(command, name, `apply-ledger ${file} ${idMargin}`, text);
    print(output.trimEnd());
    if (code !== 0) failed += 1;
  }
  return failed;
}

/** Refuses a ledger of other stores than those of a backup, before anything is copied. */
async function requireSameStores(
  folder: string,
  { databases }: Manifest,
  readServiceLedger: ReturnType<typeof readLedger>,
): Promise<void> {
  for (const { name } of services.filter((one) => one.hasStore && databases[one.name])) {
    const { store } = readServiceLedger(name);
    if (store !== undefined && store !== (await copiedStoreId(join(folder, name))))
      throw new UsageError(foreignLedger(name));
  }
}

async function restoreDatabases(environment: Environment, folder: string, { databases }: Manifest): Promise<void> {
  const found = systemDatabases(environment);
  const unknown = Object.keys(databases).find((name) => !found.some((one) => one.name === name));
  if (unknown !== undefined && unknown !== 'bus') throw new UsageError(`This system has no database of ${unknown}.`);
  for (const one of found) {
    await withDatabase(one, (connection) =>
      restoreDatabase(connection, join(folder, one.name), databases[one.name] ?? []),
    );
  }
}
