import { setTimeout as sleep } from 'node:timers/promises';
import { type Print, waitForNone } from '@ticketing/events/dead-letters/operations.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { readServiceConfig } from '@ticketing/service-kit/config/service-config.ts';
import { type Database, openDatabase } from '@ticketing/store/database.ts';
import { serviceNamed } from '@ticketing/system/services.ts';
import { operateAll } from '../../tools/dev/load-services.ts';

const deadlineMs = 180_000;
/** Longer than the near `dueBy` of a ticket lies ahead, in ms. */
const quietMs = 6_000;

/**
 * Waits until a system that nobody writes to has nothing left to do: bulks are applied, tickets opened that are due,
 * events sent and handled, deleted tickets erased everywhere.
 *
 * Errors: that takes more than three minutes; there are dead letters.
 */
export async function settle(environment: Environment, print: Print): Promise<void> {
  const tooLate = new AbortController();
  let last = 'nothing was seen to be left';
  const keep: Print = (line) => {
    last = line;
    print(line);
  };
  const deadline = sleep(deadlineMs, undefined, { signal: tooLate.signal }).then(
    () => {
      throw new Error(`The system does not come to rest: ${last}.`);
    },
    () => undefined,
  );
  await Promise.race([drain(environment, keep), deadline]);
  tooLate.abort();
}

async function drain(environment: Environment, print: Print): Promise<void> {
  const database = openTickets(environment);
  try {
    await database.opened;
    await sleep(quietMs);
    await waitForNone(
      'bulks are not applied yet',
      () => count(database, 'bulks', { state: { $ne: 'applied' } }),
      print,
    );
    await operateAll({ name: 'drain' }, print, environment);
    const isLeft = { notErasedBy: { $exists: true } };
    await waitForNone('deleted tickets are not erased yet', () => count(database, 'tickets', isLeft), print);
  } finally {
    await database.close();
  }
  const left = await operateAll({ name: 'dead-letters' }, print, environment);
  if (left > 0) throw new Error(`${left} events are dead letters.`);
}

function count({ connection }: Database, collection: string, query: object): Promise<number> {
  return connection.collection(collection).countDocuments(query);
}

/** The store of the tickets service, where it keeps what it has not finished. */
function openTickets(environment: Environment): Database {
  const { store } = readServiceConfig(serviceNamed('tickets'), environment, () => ({}));
  if (!store) throw new Error('The tickets service has no store.');
  return openDatabase(store.mongodbUri, store.database, () => undefined);
}
