import type { Print } from '@ticketing/events/operations.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import { serverTime } from '@ticketing/store/connection/server-time.ts';
import { readStoreId } from '@ticketing/store/connection/store-format.ts';
import { lastIds, skipIds } from '@ticketing/store/ids/id-sequence.ts';
import { ledgerSighting, openLastSeen } from '@ticketing/store/leases/last-seen.ts';
import type { ServiceEntry } from '@ticketing/system/services.ts';
import type { Call } from '../call/call.ts';
import { isAudited } from '../config/service-config.ts';
import {
  extendLedgerFile,
  foreignLedger,
  type LedgerLine,
  missingSince,
  readLedger,
  type ServiceLedger,
} from '../deletions/ledger-file.ts';
import { listDeletions } from '../deletions/list-deletions.ts';
import { type Repetition, repeatDeletions } from '../deletions/repeat-deletions.ts';
import { auditChanges } from '../handlers/audit-changes.ts';
import { serviceCaller } from '../identity/caller.ts';
import type { Composition } from './composition.ts';
import type { Kit } from './kit.ts';

/** The service of the operations on a ledger of deletions. Source: docs/operations/backup.md, Ledger of deletions. */
export interface LedgerService {
  entry: ServiceEntry;
  kit: Kit<unknown, unknown>;
  composition: Composition;
}

/**
 * Prints a line of a ledger: the deletions of a service at a time or later, and the last numbers of its sequences of
 * ids. A caller that names the time extends a ledger with the line, so the ledger counts as extended.
 */
export async function printDeletions(
  { entry, kit }: LedgerService,
  since: Date | undefined,
  print: Print,
): Promise<number> {
  print(JSON.stringify(await makeLine({ entry, kit }, since ?? new Date(0))));
  if (since) await noteExtension(kit);
  return 0;
}

/** Appends to a ledger the deletions of a service since its last line. */
export async function extendLedger(service: LedgerService, file: string, print: Print): Promise<number> {
  const { entry, kit } = service;
  extendLedgerFile(file, await makeLine(service, missingSince(file, entry.name)), print);
  await noteExtension(kit);
  return 0;
}

/** Lets the metrics show how old the ledger is. */
async function noteExtension({ database }: LedgerService['kit']): Promise<void> {
  await openLastSeen(database.connection).note([ledgerSighting]);
}

/**
 * Prepares a restored database for its service: makes the deletions of a ledger again, lets the sequences of ids go on
 * after all ids that may have been handed out, and calls `afterRestore` of the service. Without a ledger nothing is
 * deleted. Returns how many deletions could not be made again.
 *
 * Errors: a ledger of another store, whose ids name other things; nothing is deleted then.
 */
export async function applyLedger(
  { entry, kit, composition }: LedgerService,
  { file, idMargin }: { file: string | undefined; idMargin: number },
  print: Print,
): Promise<number> {
  const ledger = file === undefined ? undefined : readLedger(file)(entry.name);
  const { connection } = kit.database;
  if (ledger?.store !== undefined && ledger.store !== (await readStoreId(connection))) {
    throw new Error(foreignLedger(entry.name));
  }
  const { implementations = [], deletionsAlone = [], afterRestore } = composition;
  const all = auditChanges([...implementations, ...deletionsAlone], kit.audit);
  const refused = ledger ? await repeatAll({ entry, kit, implementations: all }, ledger, print) : 0;
  const restored = await lastIds(connection);
  const known: Record<string, number> = Object.fromEntries(ledger?.lastIds ?? []);
  for (const name of Object.keys({ ...restored, ...known })) {
    await skipIds(connection, name, Math.max(restored[name] ?? 0, known[name] ?? 0) + idMargin);
  }
  await afterRestore?.();
  return refused;
}

async function repeatAll(
  { entry, kit, implementations }: Pick<LedgerService, 'entry' | 'kit'> & Pick<Repetition, 'implementations'>,
  ledger: ServiceLedger,
  print: Print,
): Promise<number> {
  const deleted = isAudited(entry) ? await listDeletions(entry, kit.audit, new Date(0), ['done']) : {};
  const call = ownCall(entry, kit);
  return repeatDeletions({ entry, implementations, call, deleted }, ledger, print);
}

async function makeLine({ entry, kit }: Pick<LedgerService, 'entry' | 'kit'>, since: Date): Promise<LedgerLine> {
  const { connection } = kit.database;
  // Noted first: later deletions are looked for the next time. By the clock of the entries of the audit log.
  const until = new Date(serverTime(connection)).toISOString();
  const deleted = isAudited(entry) ? await listDeletions(entry, kit.audit, since) : {};
  return {
    service: entry.name,
    until,
    store: await readStoreId(connection),
    deleted,
    lastIds: await lastIds(connection),
  };
}

/** Returns a call with which a service calls its own handlers, while it serves no requests. */
function ownCall({ name }: ServiceEntry, { log, stopping }: Pick<LedgerService['kit'], 'log' | 'stopping'>): Call {
  return {
    caller: serviceCaller(name),
    api: 'rpc',
    trace: continueTrace(undefined),
    log,
    signal: stopping,
    gone: stopping,
    header: () => undefined,
    setResponseHeader: () => undefined,
    countAs: () => undefined,
    onEncoded: () => undefined,
    onEnd: () => undefined,
    endResponse: () => undefined,
  };
}
