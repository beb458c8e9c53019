import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import type { Print } from '@ticketing/events/operations.ts';

/** The deletions of a service, and the last numbers of its sequences of ids. */
export interface ServiceLedger {
  /** The ids of each deletion, joined by spaces, by the method that made it. */
  deleted: ReadonlyMap<string, ReadonlySet<string>>;
  /** The last number of each sequence of ids, by its name. */
  lastIds: ReadonlyMap<string, number>;
  /** Until when the deletions are complete; undefined if there are none yet. */
  until: Date | undefined;
  /** The id of the store that they are from; undefined if nothing says it. */
  store: string | undefined;
}

/** A line of the file of a ledger, without what an earlier line has already. Lines are only ever appended. */
export interface LedgerLine {
  service: string;
  /** RFC 3339. */
  until: string;
  /** The id of the store of the service. */
  store?: string | undefined;
  deleted?: Readonly<Record<string, readonly string[]>>;
  lastIds?: Readonly<Record<string, number>>;
}

/** A line of an older version: one for all services, and of deletions only those of tickets. */
interface OldLine {
  until: string;
  deletedTickets: number[];
  lastIds: Record<string, Record<string, number>>;
}

const deleteTicket = 'ticketing.tickets.v1.TicketService.DeleteTicket';

/**
 * Reads what a ledger says about each service; "-" is the standard input. Errors: an Error, if the file is missing, has no
 * whole line, or is no ledger.
 */
export function readLedger(file: string): (service: string) => ServiceLedger {
  const isInput = file === '-';
  if (!isInput && !existsSync(file)) throw new Error(`There is no ledger ${file}.`);
  const text = readFileSync(isInput ? 0 : file, 'utf8');
  const name = isInput ? 'The standard input' : file;
  // A file that was lost, or an input that did not arrive, would bring back all that was deleted.
  if (wholeLines(text) === '') throw new Error(`${name} is no ledger: it has no line.`);
  return parseLedger(text, name);
}

/** Describes a ledger whose deletions of a service are those of another store than the restored one. */
export function foreignLedger(service: string): string {
  return `The ledger is that of another system: it would delete from the ${service} service what it never had.`;
}

/**
 * How long before the last line deletions are looked for: longer than a request lasts, and longer than the audit log
 * waits for the end of a change.
 */
const overlapMs = 10 * 60_000;

/**
 * Returns the time since which the deletions of a service may be missing in a ledger, which may be a file that is not
 * there yet.
 */
export function missingSince(file: string, service: string): Date {
  const { until } = parseLedger(readText(file), file)(service);
  return new Date(until ? until.getTime() - overlapMs : 0);
}

/** Reads a ledger from its text. Errors: an Error that names the file, if it is no ledger. */
function parseLedger(text: string, file: string): (service: string) => ServiceLedger {
  const ledgers = new Map<string, OpenLedger>();
  try {
    for (const line of wholeLines(text).split('\n').filter(Boolean)) {
      for (const one of upgradeLine(JSON.parse(line) as LedgerLine | OldLine)) addLine(ledgers, one);
    }
  } catch (error) {
    throw new Error(`${file} is no ledger: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
  return (service) => ledgers.get(service) ?? openLedger();
}

/**
 * Appends the entries that a ledger does not have yet; nothing if it has all. The first line of a service is always
 * written: its ledger can be applied then, also if it has deleted nothing. The file is made if it is missing, and text
 * after its last whole line is removed first, or neither could be read. Returns how many deletions are new.
 *
 * Errors: an Error, if the file is no ledger, or that of another store.
 */
export function appendToLedger(
  file: string,
  { service, until, store, deleted = {}, lastIds = {} }: LedgerLine,
): number {
  const text = readText(file);
  const known = parseLedger(text, file)(service);
  if (store !== undefined && known.store !== undefined && store !== known.store) {
    throw new Error(
      `${file} is the ledger of another system: its deletions of ${service} are those of another store. Name another file; a new one is begun.`,
    );
  }
  const newDeletions = Object.entries(deleted)
    .map(([method, all]) => [method, all.filter((ids) => !known.deleted.get(method)?.has(ids))] as const)
    .filter(([, ids]) => ids.length > 0);
  const movedIds = Object.entries(lastIds).filter(([name, last]) => last > (known.lastIds.get(name) ?? 0));
  if (known.until !== undefined && newDeletions.length === 0 && movedIds.length === 0) return 0;
  const line: LedgerLine = {
    service,
    until,
    ...(store !== known.store ? { store } : {}),
    ...(newDeletions.length > 0 ? { deleted: Object.fromEntries(newDeletions) } : {}),
    ...(movedIds.length > 0 ? { lastIds: Object.fromEntries(movedIds) } : {}),
  };
  const whole = wholeLines(text);
  if (whole !== text) truncateSync(file, Buffer.byteLength(whole));
  appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600, flush: true });
  return newDeletions.reduce((sum, [, ids]) => sum + ids.length, 0);
}

/** Appends to a ledger, and prints how many deletions of the service are new. Errors: those of `appendToLedger`. */
export function extendLedgerFile(file: string, line: LedgerLine, print: Print): void {
  print(`${line.service}: ${appendToLedger(file, line)} deletions were added to the ledger`);
}

/** Returns the text of a file that may not be there yet. */
function readText(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** Returns the lines that were written as a whole; an incomplete last line was never acknowledged. */
function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf('\n') + 1);
}

/** Returns the lines of the services that a line of any version stands for. */
function upgradeLine(line: LedgerLine | OldLine): Partial<LedgerLine>[] {
  if ('service' in line) return [line];
  const { deletedTickets, lastIds } = line;
  // It lacks all other deletions, so `until` stays unset.
  const tickets = { service: 'tickets', deleted: { [deleteTicket]: deletedTickets.map(String) } };
  return [tickets, ...Object.entries(lastIds).map(([service, ids]) => ({ service, lastIds: ids }))];
}

interface OpenLedger extends ServiceLedger {
  deleted: Map<string, Set<string>>;
  lastIds: Map<string, number>;
}

const openLedger = (): OpenLedger => ({
  deleted: new Map(),
  lastIds: new Map(),
  until: undefined,
  store: undefined,
});

function addLine(
  ledgers: Map<string, OpenLedger>,
  { service = '', until, store, deleted, lastIds }: Partial<LedgerLine>,
): void {
  const ledger = ledgers.get(service) ?? openLedger();
  ledgers.set(service, ledger);
  if (until !== undefined) ledger.until = new Date(until);
  if (store !== undefined && ledger.store !== undefined && store !== ledger.store) {
    throw new Error(`it has deletions of two stores of the ${service} service.`);
  }
  ledger.store ??= store;
  for (const [method, all] of Object.entries(deleted ?? {})) {
    const known = ledger.deleted.get(method) ?? new Set();
    ledger.deleted.set(method, known);
    for (const ids of all) known.add(ids);
  }
  for (const [name, last] of Object.entries(lastIds ?? {})) {
    ledger.lastIds.set(name, Math.max(last, ledger.lastIds.get(name) ?? 0));
  }
}
