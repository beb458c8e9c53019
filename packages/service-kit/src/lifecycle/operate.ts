import { setTimeout } from 'node:timers/promises';
import type { Configuration } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { openBus } from '@ticketing/events/bus/bus-config.ts';
import { openDeadLetters } from '@ticketing/events/dead-letters/dead-letters.ts';
import {
  type Print,
  printDeadLetters,
  printUndeliverable,
  replayDeadLetters,
  unsentCount,
  waitForNone,
} from '@ticketing/events/dead-letters/operations.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { consumedTopics, type ServiceEntry } from '@ticketing/system/services.ts';
import type { ServiceConfig } from '../config/service-config.ts';
import { applyLedger, extendLedger, printDeletions } from '../deletions/ledger-operations.ts';
import { defaultServerLimits } from '../server/server-limits.ts';
import { exportAudit, verifyAudit } from './audit-operations.ts';
import { type Composition, eventHandlerOf } from './composition.ts';
import { type Kit, openKit } from './kit.ts';
import type { OperationRequest } from './operation-request.ts';

const openTimeoutMs = 30_000;

/** What an operation needs from a service. */
export interface OperatedService<Own, Settings> {
  entry: ServiceEntry;
  config: ServiceConfig & Own;
  readSettings(configuration: Configuration): Settings;
  compose(kit: Kit<Own, Settings>): Composition | Promise<Composition>;
}

/**
 * Carries out an operator's request on the stores of a service, while its processes may be running. Returns how many items
 * are left to do.
 *
 * Errors: an operation that the service does not have; store_unavailable, bus_unavailable.
 */
export async function operate<Own, Settings>(
  { entry, config, readSettings, compose }: OperatedService<Own, Settings>,
  request: OperationRequest,
  print: Print,
): Promise<number> {
  const opened = new AsyncDisposableStack();
  const log = createLogger(entry.name, 'silent');
  try {
    const wakeRelay = () => undefined;
    const { signal: stopping } = new AbortController();
    const kit = await openKit(
      {
        entry,
        config,
        log,
        runtime: systemRuntime,
        limits: defaultServerLimits,
        pageLimits: undefined,
        readDisk: undefined,
        readSettings,
        settings: undefined,
        wakeRelay,
        stopping,
        closing: stopping,
      },
      opened,
    );
    if (entry.hasStore) await Promise.race([kit.database.opened, failAfterTimeout(entry.name)]);
    return await carryOut(entry, kit, await compose(kit), request, print);
  } finally {
    await opened.disposeAsync();
  }
}

async function failAfterTimeout(service: string): Promise<never> {
  await setTimeout(openTimeoutMs, undefined, { ref: false });
  throw new Error(`The database of the ${service} service does not respond, or is not set up for this version.`);
}

async function carryOut(
  entry: ServiceEntry,
  kit: Kit<unknown, unknown>,
  composition: Composition,
  request: OperationRequest,
  print: Print,
): Promise<number> {
  const { name, key } = request;
  const { outboxes = [], operations = {} } = composition;
  const handle = eventHandlerOf(kit, composition);
  switch (name) {
    case 'dead-letters': {
      const unsent = await printUndeliverable(outboxes, print);
      return unsent + (handle ? await printDeadLetters(openDeadLetters(kit.database.connection), print) : 0);
    }
    case 'replay': {
      for (const outbox of outboxes) await outbox.retryUndeliverable();
      if (!handle) return 0;
      const deadLetters = openDeadLetters(kit.database.connection);
      return replayDeadLetters({ deadLetters, group: entry.name, handle, log: kit.log }, key, print);
    }
    case 'drain':
      await drain(entry, kit, composition, print);
      return 0;
    case 'audit-export':
      return exportAudit(entry, kit, key, print);
    case 'audit-verify':
      return verifyAudit(entry, kit, key, print);
    case 'deletions':
      return printDeletions({ entry, kit, composition }, request.since ?? new Date(0), print);
    case 'ledger':
      return extendLedger({ entry, kit, composition }, requireFile(request), print);
    case 'apply-ledger':
      return applyLedger({ entry, kit, composition }, { file: request.file, idMargin: request.idMargin ?? 0 }, print);
    default: {
      const operation = operations[name];
      if (!operation) throw new Error(`The ${entry.name} service has no operation ${name}.`);
      return operation(print, request);
    }
  }
}

function requireFile({ name, file }: OperationRequest): string {
  if (file === undefined) throw new Error(`Name the file for ${name}.`);
  return file;
}

async function drain(
  entry: ServiceEntry,
  { config, log }: Kit<unknown, unknown>,
  { outboxes = [], pending = [] }: Composition,
  print: Print,
): Promise<void> {
  if (outboxes.length > 0) await waitForNone('events are not sent yet', () => unsentCount(outboxes), print);
  const topics = consumedTopics(entry).map((topic) => topic.name);
  if (topics.length > 0 && config.bus) {
    const bus = await openBus(config.bus, entry.name, log);
    try {
      await waitForNone('events are not handled yet', () => bus.lag(entry.name, topics), print);
    } finally {
      await bus.close();
    }
  }
  for (const { description, count } of pending) await waitForNone(description, count, print);
}
