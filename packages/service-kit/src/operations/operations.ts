import type { ServiceEntry } from '@ticketing/system/services.ts';

/** The values that an operation takes. */
export interface OperationArguments {
  /**
   * For `replay`: the only key whose events are replayed; all keys if undefined. For `audit-verify` and `audit-export`: a
   * point of the audit log that was noted before.
   */
  key?: string | undefined;
  /** The time from which `deletions` lists; undefined for all. */
  since?: Date | undefined;
  /** The file of `ledger` and `apply-ledger`; undefined where `apply-ledger` deletes nothing. */
  file?: string | undefined;
  /** How many ids of each sequence `apply-ledger` counts as handed out after the last extension of the ledger. */
  idMargin?: number | undefined;
}

/** An option of an operation: `--key KEY`. */
export interface OperationOption {
  name: string;
  /** Stands for its value in the help. */
  value: string;
  does: string;
  isRequired?: boolean;
  default?: string;
  /** Errors: a text that the option does not take. */
  read(text: string): OperationArguments;
}

/** An operation that an operator requests of a service. */
export interface OperationDescription {
  does: string;
  options?: readonly OperationOption[];
  /** Whether a service has the operation. If unset, all services with a store have it, and all have `set-up`. */
  belongsTo?(entry: ServiceEntry): boolean;
  /** The command for a system that `npm start` runs. */
  npm: string;
}

/** How many ids of each sequence a restore leaves out, unless another number is given. */
export const defaultIdMargin = '5000';

/** Replaces the file of `apply-ledger` where no ledger is kept: an empty file could be a lost ledger. */
export const withoutLedger = 'without-ledger';

const noted: OperationOption = {
  name: 'noted',
  value: 'POINT',
  does: 'a point of the log that was noted before (number:hash)',
  read: (key) => ({ key }),
};

const isReporting = ({ name }: ServiceEntry) => name === 'reporting';

const descriptions = {
  'set-up': {
    does: 'creates missing indexes and topics; run it before each start of a new version',
    npm: 'npm start',
  },
  'dead-letters': {
    does: 'lists the events that could not be sent or handled, with the reason',
    npm: 'npm run events -- dead-letters',
  },
  replay: {
    does: 'sends and handles these again, each key in its order',
    options: [{ name: 'key', value: 'KEY', does: 'only the events of this ticket or tag', read: (key) => ({ key }) }],
    npm: 'npm run events -- replay',
  },
  drain: {
    does: 'waits until all events are sent and handled, and their effects are complete',
    npm: 'npm run events -- drain',
  },
  rebuild: {
    does: 'builds a new generation of the reporting rows from the tickets, then switches to it; continues an interrupted one',
    belongsTo: isReporting,
    npm: 'npm run events -- rebuild reporting',
  },
  reconcile: {
    does: 'compares the reporting rows with the tickets, and repairs the rows that differ',
    belongsTo: isReporting,
    npm: 'npm run events -- reconcile reporting',
  },
  'encrypt-secrets': {
    does: 'encrypts all stored secrets with the current ENCRYPTION_KEY, after it was replaced',
    belongsTo: ({ keepsSecrets }) => keepsSecrets,
    npm: 'npm run events -- encrypt-secrets',
  },
  'audit-export': {
    does: 'prints who changed and deleted what: one line of JSON an entry, ids only',
    options: [noted],
    npm: 'npm run audit -- export --service NAME',
  },
  'audit-verify': {
    does: 'checks that nobody has altered the audit log',
    options: [noted],
    npm: 'npm run audit -- verify',
  },
  deletions: {
    does: 'prints a line of a ledger: the deletions, and the last ids',
    options: [
      { name: 'since', value: 'TIME', does: 'only from this time on', read: (text) => ({ since: parseTime(text) }) },
    ],
    npm: 'npm run backup -- ledger --file FILE',
  },
  ledger: {
    does: 'appends to a ledger the deletions that it lacks',
    options: [{ name: 'file', value: 'FILE', does: 'the ledger', isRequired: true, read: (file) => ({ file }) }],
    npm: 'npm run backup -- ledger --file FILE',
  },
  'apply-ledger': {
    does: 'completes a restored database before the service starts: set-up, deletions of the ledger, ids, feed',
    options: [
      {
        name: 'file',
        value: 'FILE',
        does: `the ledger; - is the standard input, ${withoutLedger} says that there is none`,
        isRequired: true,
        read: (file) => ({ file: file === withoutLedger ? undefined : file }),
      },
      {
        name: 'id-margin',
        value: 'NUMBER',
        does: `how many ids of each kind the ledger may not know (${defaultIdMargin})`,
        default: defaultIdMargin,
        read: (text) => ({ idMargin: parseIdMargin(text) }),
      },
    ],
    npm: 'npm run restore -- --in-place --ledger FILE',
  },
} satisfies Record<string, OperationDescription>;

/** The name of an operation. */
export type OperationName = keyof typeof descriptions;

/** All operations. The program of a service, the commands of npm and their help follow from this table. */
export const operations: Readonly<Record<OperationName, OperationDescription>> = descriptions;

/** Returns the names of the operations of a service, or of all if none is named, in the order of the table. */
export function operationNames(entry?: ServiceEntry): OperationName[] {
  const names = Object.keys(operations).filter(isOperation);
  return entry ? names.filter((name) => hasOperation(entry, name)) : names;
}

/** Returns the name of an operation. Errors: there is no such operation. */
export function requireOperation(name: string): OperationName {
  if (!isOperation(name)) throw new Error(`"${name}" is no operation (--help lists them).`);
  return name;
}

function isOperation(name: string): name is OperationName {
  return Object.hasOwn(operations, name);
}

/** Returns the names of the operations that only some services have. */
export function ownOperations(entry: ServiceEntry): OperationName[] {
  return operationNames(entry).filter((name) => operations[name].belongsTo);
}

/** Returns the names of the operations that a command of npm carries out, for example `npm run events`. */
export function operationsOfCommand(command: string): OperationName[] {
  return operationNames().filter((name) => operations[name].npm.startsWith(command));
}

/** Whether a service has an operation. */
export function hasOperation(entry: ServiceEntry, name: OperationName): boolean {
  return operations[name].belongsTo?.(entry) ?? (entry.hasStore || name === 'set-up');
}

/** Reads how many ids of each sequence are left out after a restore. Errors: no such number. */
export function parseIdMargin(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`"${text}" is no number of ids.`);
  return Number(text);
}

function parseTime(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new Error(`"${text}" is no time such as 2026-11-22T21:00:00Z.`);
  return time;
}
