import { setTimeout } from 'node:timers/promises';
import { openBus } from '@ticketing/events/bus/bus-config.ts';
import { openDeadLetters } from '@ticketing/events/dead-letters/dead-letters.ts';
import {
  type Print,
  printDeadLetters,
  printUndeliverable,
  replayDeadLetters,
  unsentCount,
  waitForNone,
} from '@ticketing/events/operations.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { consumedTopics, type ServiceEntry } from '@ticketing/system/services.ts';
import type { ServiceConfig } from '../config/service-config.ts';
import type { OperationRequest } from '../operations/operation-request.ts';
import type { OperationName } from '../operations/operations.ts';
import { exportAudit, verifyAudit } from './audit-operations.ts';
import { type Composition, toEventHandler } from './composition.ts';
import { type AnyKit, hasStore, type Kit, type KitOverrides, type KitProcess } from './kit.ts';
import { applyLedger, extendLedger, printDeletions } from './ledger-operations.ts';

const openTimeoutMs = 30_000;

/** Opens the kit of a process; `compose` then makes the parts of the service. */
export type OpenService<Own, Settings> = (
  process: KitProcess<Own>,
  overrides: KitOverrides<Settings>,
  opened: AsyncDisposableStack,
) => Promise<{ kit: AnyKit; compose(): Promise<Composition> }>;

/** The parts of a service that an operation needs. */
export interface OperatedService<Own, Settings> {
  entry: ServiceEntry;
  config: ServiceConfig & Own;
  open: OpenService<Own, Settings>;
}

/**
 * Carries out an operator's request on the stores of a service, while its processes may be running. Returns how many items
 * are left to do.
 *
 * Errors: store_unavailable, bus_unavailable; an operation of a store for a service without one.
 */
export async function operate<Own, Settings>(
  { entry, config, open }: OperatedService<Own, Settings>,
  request: OperationRequest & { name: Exclude<OperationName, 'set-up'> },
  print: Print,
): Promise<number> {
  await using opened = new AsyncDisposableStack();
  const log = createLogger(entry.name, 'silent');
  const { signal } = new AbortController();
  const process = { entry, config, log, wakeRelay: () => undefined, stopping: signal, closing: signal };
  const { kit, compose } = await open(process, {}, opened);
  if (!hasStore(kit)) throw new Error(`The ${entry.name} service has no database.`);
  await Promise.race([kit.database.opened, failAfterTimeout(entry.name)]);
  return await implementations[request.name]({ entry, kit, composition: await compose() }, request, print);
}

async function failAfterTimeout(service: string): Promise<never> {
  await setTimeout(openTimeoutMs, undefined, { ref: false });
  throw new Error(`The database of the ${service} service does not respond, or is not set up for this version.`);
}

/** The service whose operation is carried out. */
interface Operated {
  entry: ServiceEntry;
  kit: Kit<unknown, unknown>;
  composition: Composition;
}

/** Carries out an operation. Returns how many items are left to do. */
type CarryOut = (operated: Operated, request: OperationRequest, print: Print) => Promise<number>;

/** All operations but `set-up`, which needs no parts of the service. */
const implementations: Readonly<Record<Exclude<OperationName, 'set-up'>, CarryOut>> = {
  'dead-letters': listDeadLetters,
  replay,
  drain,
  rebuild: ownOperation,
  reconcile: ownOperation,
  'encrypt-secrets': ownOperation,
  'audit-export': ({ entry, kit }, { key }, print) => exportAudit(entry, kit, key, print),
  'audit-verify': ({ entry, kit }, { key }, print) => verifyAudit(entry, kit, key, print),
  deletions: (operated, { since }, print) => printDeletions(operated, since, print),
  ledger: (operated, request, print) => extendLedger(operated, requireFile(request), print),
  'apply-ledger': (operated, { file, idMargin = 0 }, print) => applyLedger(operated, { file, idMargin }, print),
};

async function ownOperation({ entry, composition }: Operated, request: OperationRequest, print: Print) {
  const operation = composition.operations?.[request.name];
  if (!operation) throw new Error(`The ${entry.name} service does not carry out ${request.name}.`);
  return operation(print, request);
}

async function listDeadLetters(
  { entry, kit, composition }: Operated,
  _: OperationRequest,
  print: Print,
): Promise<number> {
  const unsent = await printUndeliverable(composition.outboxes ?? [], print);
  const hasHandler = toEventHandler(kit, composition) !== undefined;
  const unhandled = hasHandler ? await printDeadLetters(openDeadLetters(kit.database.connection), print) : 0;
  print(`${entry.name}: ${unsent + unhandled} dead letters`);
  return unsent + unhandled;
}

async function replay({ entry, kit, composition }: Operated, { key }: OperationRequest, print: Print): Promise<number> {
  for (const outbox of composition.outboxes ?? []) await outbox.retryUndeliverable();
  const handle = toEventHandler(kit, composition);
  if (!handle) return 0;
  const deadLetters = openDeadLetters(kit.database.connection);
  const left = await replayDeadLetters({ deadLetters, group: entry.name, handle, log: kit.log }, key, print);
  print(`${entry.name}: ${left} keys could not be handled`);
  return left;
}

function requireFile({ name, file }: OperationRequest): string {
  if (file === undefined) throw new Error(`Name the file for ${name}.`);
  return file;
}

async function drain({ entry, kit, composition }: Operated, _: OperationRequest, print: Print): Promise<number> {
  const { config, log } = kit;
  const { outboxes = [], pending = [] } = composition;
  const printNamed = (line: string) => print(`${entry.name}: ${line}`);
  if (outboxes.length > 0) await waitForNone('events are not sent yet', () => unsentCount(outboxes), printNamed);
  const topics = consumedTopics(entry).map((topic) => topic.name);
  if (topics.length > 0 && config.bus) {
    const bus = await openBus(config.bus, entry.name, log);
    try {
      const unhandled = `events are not handled yet by the group ${entry.name}`;
      await waitForNone(unhandled, () => bus.lag(entry.name, topics), printNamed);
    } finally {
      await bus.close();
    }
  }
  for (const { description, count } of pending) await waitForNone(description, count, printNamed);
  return 0;
}
