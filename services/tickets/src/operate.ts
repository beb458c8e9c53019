import { type Print, printUndeliverable, unsentCount, waitForNone } from '@ticketing/events/dead-letters/operations.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { openDatabase } from '@ticketing/store/database.ts';
import { readTicketsConfig } from './config.ts';
import { openOutboxes } from './events/outboxes.ts';

/** What an operator can do with the events that this service sends. */
export type TicketsOperation = 'parked' | 'replay' | 'drain';

/**
 * Carries out an operation: `parked` lists the documents whose events the bus has refused, `replay` lets them be tried
 * again at once, `drain` waits until every event is sent. Answers how many documents are left.
 *
 * Errors: a ConfigError; store_unavailable.
 */
export async function operateTickets(
  operation: TicketsOperation,
  print: Print,
  environment?: Environment,
): Promise<number> {
  const { store } = readTicketsConfig(environment);
  const database = openDatabase(store.mongodbUri, store.database, (error) => print(`the database: ${String(error)}`));
  try {
    await database.opened;
    const outboxes = openOutboxes(database);
    if (operation === 'parked') return await printUndeliverable(outboxes, print);
    if (operation === 'replay') for (const outbox of outboxes) await outbox.retryUndeliverable();
    else await waitForNone('events are not sent yet', () => unsentCount(outboxes), print);
    return 0;
  } finally {
    await database.close();
  }
}
