import { openBus } from '@ticketing/events/bus/bus-config.ts';
import { openDeadLetters } from '@ticketing/events/dead-letters/dead-letters.ts';
import {
  type Print,
  printDeadLetters,
  replayDeadLetters,
  waitForNone,
} from '@ticketing/events/dead-letters/operations.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { internalTokens } from '@ticketing/service-kit/identity/internal-token.ts';
import { type Database, openDatabase } from '@ticketing/store/database.ts';
import type { Context } from './application/context.ts';
import { rebuild, reconcile } from './application/reconciliation.ts';
import { openTicketsClient } from './application/tickets-client.ts';
import { type ReportingConfig, readReportingConfig } from './config.ts';
import { consumedTopics, consumerGroup, eventHandler } from './events/consume.ts';
import { reportingContext } from './service.ts';
import { defaultSettings } from './settings.ts';

/** What an operator can do with the events that this service handles, and with its rows. */
export interface ReportingOperation {
  name: 'parked' | 'replay' | 'drain' | 'rebuild' | 'reconcile';
  /** Of `replay`: the only key. */
  key?: string | undefined;
}

const graceMs = 5_000;

/**
 * Carries out an operation: `parked` lists the events that could not be handled, `replay` handles them again, `drain`
 * waits until every event is handled, `rebuild` makes all rows anew from the tickets and then lets them be read,
 * `reconcile` compares the rows with the tickets and repairs them. Answers how many events or rows are left, or had
 * drifted.
 *
 * Errors: a ConfigError; store_unavailable, bus_unavailable; those of the tickets service.
 */
export async function operateReporting(
  operation: ReportingOperation,
  print: Print,
  environment?: Environment,
): Promise<number> {
  const config = readReportingConfig(environment);
  const log = createLogger('reporting', 'silent');
  const { mongodbUri, database: name } = config.store;
  const database = openDatabase(mongodbUri, name, (error) => print(`the database: ${String(error)}`));
  const tokens = await internalTokens('reporting', config.signingKeyFile);
  const tickets = openTicketsClient(config.ticketsTarget, tokens);
  try {
    await database.opened;
    const around = { tickets, settings: defaultSettings, log, wakeExports: () => undefined };
    return await carryOut(operation, print, { config, database, context: reportingContext(database, around) });
  } finally {
    tickets.close();
    await database.close();
  }
}

interface Operated {
  config: ReportingConfig;
  database: Database;
  context: Context;
}

async function carryOut({ name, key }: ReportingOperation, print: Print, on: Operated): Promise<number> {
  const { context, database } = on;
  const parking = openDeadLetters(database.connection);
  const { signal } = new AbortController();
  switch (name) {
    case 'parked':
      return printDeadLetters(parking, print);
    case 'replay': {
      const handle = eventHandler(context, () => undefined);
      return replayDeadLetters({ deadLetters: parking, group: consumerGroup, handle, log: context.log }, key, print);
    }
    case 'drain':
      await drain(on, print);
      return 0;
    case 'rebuild': {
      const onPage = (compared: number) => print(`${compared} tickets compared`);
      print(`${await rebuild(context, { signal, graceMs, onPage })} tickets; the new rows are read now`);
      return 0;
    }
    case 'reconcile': {
      const { active } = await context.rows.generations();
      const drift = await reconcile(context, { generation: active, graceMs, signal });
      const { compared, missing, stale, surplus } = drift;
      print(`${compared} tickets compared: ${missing} rows were missing, ${stale} stale, ${surplus} surplus; repaired`);
      return missing + stale + surplus;
    }
  }
}

async function drain({ config, context }: Operated, print: Print): Promise<void> {
  const bus = await openBus(config.bus, 'reporting', context.log);
  try {
    await waitForNone('events are not handled yet', () => bus.lag(consumerGroup, consumedTopics), print);
    await waitForNone('tags do not show in all rows yet', () => context.tagRefreshes.left(), print);
  } finally {
    await bus.close();
  }
}
