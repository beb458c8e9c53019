/**
 * The operation that an operator requests. Every service has `dead-letters` (lists the events that could not be sent or
 * handled), `replay` (sends and handles them again), `drain` (waits until all events are sent and handled), `audit-export`
 * (prints who changed and deleted what), `audit-verify` (checks that nobody has altered that), and for backups `deletions`
 * (prints what was deleted), `ledger` (appends that to a file), and `apply-ledger` (makes these deletions again in a restored
 * database, and lets sequences of ids go on after what was handed out).
 */
export interface OperationRequest {
  name: string;
  /**
   * For `replay`: the only key whose events are replayed; all keys if undefined. For `audit-verify` and `audit-export`: a
   * point of the audit log that was noted before.
   */
  key?: string | undefined;
  /** For `deletions`: the time since which; all if undefined. */
  since?: Date | undefined;
  /** For `ledger` and `apply-ledger`: the file of the ledger; undefined where `apply-ledger` deletes nothing. */
  file?: string | undefined;
  /** For `apply-ledger`: how many ids of each sequence may have been handed out after what the ledger knows. */
  idMargin?: number | undefined;
}

/** How many ids of each sequence a restore leaves out, unless it is said otherwise. */
export const defaultIdMargin = '5000';

/** Stands for the file of `apply-ledger` where no ledger is kept. An empty file would not do: it may be one that was lost. */
export const withoutLedger = 'without-ledger';

/** The operations that the program of a service carries out, each with what its arguments mean. */
const requests: Readonly<Record<string, (...args: (string | undefined)[]) => Omit<OperationRequest, 'name'>>> = {
  'audit-export': (key) => ({ key }),
  'audit-verify': (key) => ({ key }),
  deletions: (since) => ({ since: since === undefined ? undefined : timeOf(since) }),
  ledger: (file) => ({ file: fileOf(file) }),
  'apply-ledger': (file, margin = defaultIdMargin) => ({
    file: file === withoutLedger ? undefined : fileOf(file),
    idMargin: idMarginOf(margin),
  }),
};

/** Reads a request from the arguments of a program; undefined if they name no such operation. Errors: a wrong argument. */
export function requestOf([name = '', ...args]: readonly string[]): OperationRequest | undefined {
  const request = Object.hasOwn(requests, name) ? requests[name] : undefined;
  return request && { name, ...request(...args) };
}

/** Reads how many ids of each sequence are left out after a restore. Errors: no such number. */
export function idMarginOf(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`"${text}" is no number of ids.`);
  return Number(text);
}

function fileOf(file: string | undefined): string {
  if (file === undefined) throw new Error('Name the file of the ledger.');
  return file;
}

function timeOf(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new Error(`"${text}" is no time such as 2026-11-22T21:00:00Z.`);
  return time;
}
