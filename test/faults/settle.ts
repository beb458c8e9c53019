import { setTimeout as sleep } from 'node:timers/promises';
import { type Print, waitForNone } from '@ticketing/events/dead-letters/operations.ts';
import { operateReporting } from '@ticketing/reporting/operate.ts';
import { type Environment, readConfig } from '@ticketing/runtime/config-reader.ts';
import { type Database, openDatabase } from '@ticketing/store/database.ts';
import { readStoreConfig } from '@ticketing/store/store-config.ts';
import { operateTickets } from '@ticketing/tickets/operate.ts';

const deadlineMs = 180_000;
/** Longer than the near `dueBy` of a ticket lies ahead, in ms. */
const quietMs = 6_000;

/**
 * Waits until a system that nobody writes to has nothing left to do: bulks are applied, tickets opened that are due,
 * events sent and handled, deleted tickets erased everywhere.
 *
 * Errors: that takes more than three minutes; events are parked.
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
    await operateTickets('drain', print, environment);
    await operateReporting({ name: 'drain' }, print, environment);
    const isLeft = { notErasedBy: { $exists: true } };
    await waitForNone('deleted tickets are not erased yet', () => count(database, 'tickets', isLeft), print);
  } finally {
    await database.close();
  }
  const parked =
    (await operateTickets('parked', print, environment)) +
    (await operateReporting({ name: 'parked' }, print, environment));
  if (parked > 0) throw new Error(`${parked} events are parked.`);
}

function count({ connection }: Database, collection: string, query: object): Promise<number> {
  return connection.collection(collection).countDocuments(query);
}

/** The store of the tickets service, where it keeps what it has not finished. */
function openTickets(environment: Environment): Database {
  const ofStore = Object.entries(environment).filter(([name]) => name.startsWith('TICKETING_TICKETS_MONGODB_'));
  const { mongodbUri, database } = readConfig(Object.fromEntries(ofStore), 'TICKETING_TICKETS_', (from) =>
    readStoreConfig(from, 'ticketing_tickets'),
  );
  return openDatabase(mongodbUri, database, () => undefined);
}
