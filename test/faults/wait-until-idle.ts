import { setTimeout as sleep } from 'node:timers/promises';
import { type Print, waitForNone } from '@ticketing/events/dead-letters/operations.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { type Database, openDatabase } from '@ticketing/store/database.ts';
import { serviceNamed } from '@ticketing/system/services.ts';
import { sharedConfig } from '@ticketing/testkit/shared-config.ts';
import { operateAll } from '../../tools/dev/load-services.ts';

const deadlineMs = 180_000;
/** The load sets `dueBy` at most 4 s ahead, so after this time all such tickets are due. */
const reopeningMs = 6_000;

/**
 * Waits until a system without load has nothing left to do: bulks are applied, due tickets are reopened, events are
 * sent and handled, and deleted tickets are erased by all services.
 *
 * Errors: throws if that takes more than three minutes, or if there are dead letters.
 */
export async function waitUntilIdle(environment: Environment, print: Print): Promise<void> {
  const tooLate = new AbortController();
  let last = 'nothing was reported as left';
  const printAndRemember: Print = (line) => {
    last = line;
    print(line);
  };
  const deadline = sleep(deadlineMs, undefined, { signal: tooLate.signal }).then(
    () => {
      throw new Error(`The system is not idle after three minutes: ${last}.`);
    },
    () => undefined,
  );
  await Promise.race([drain(environment, printAndRemember), deadline]);
  tooLate.abort();
}

async function drain(environment: Environment, print: Print): Promise<void> {
  const database = openTickets(environment);
  try {
    await database.opened;
    await sleep(reopeningMs);
    await waitForNone(
      'bulks are not applied yet',
      () => count(database, 'bulks', { state: { $ne: 'applied' } }),
      print,
    );
    await operateAll({ name: 'drain' }, print, environment);
    const isNotErased = { notErasedBy: { $exists: true } };
    await waitForNone('deleted tickets are not erased yet', () => count(database, 'tickets', isNotErased), print);
  } finally {
    await database.close();
  }
  const left = await operateAll({ name: 'dead-letters' }, print, environment);
  if (left > 0) throw new Error(`${left} events are dead letters.`);
}

function count({ connection }: Database, collection: string, query: object): Promise<number> {
  return connection.collection(collection).countDocuments(query);
}

/** Opens the store of the tickets service, which records unfinished bulks and erasures. */
function openTickets(environment: Environment): Database {
  const { store } = sharedConfig(serviceNamed('tickets'), environment);
  if (!store) throw new Error('The tickets service has no store.');
  return openDatabase(store.mongodbUri, store.database, () => undefined);
}
