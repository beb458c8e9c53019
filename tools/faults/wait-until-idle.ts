import { setTimeout as sleep } from 'node:timers/promises';
import { type Print, waitForNone } from '@ticketing/events/operations.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { type Database, openDatabase } from '@ticketing/store/connection/database.ts';
import { serviceNamed } from '@ticketing/system/services.ts';
import { sharedConfig } from '@ticketing/testkit/shared-config.ts';
import { operateAll } from '../dev/load-services.ts';

const deadlineMs = 180_000;
/** The load sets `dueBy` at most 4 s ahead, so after this time all such tickets are due. */
const reopeningMs = 6_000;

/** The times for which sweepers wait, because a writer might need them; with a past time they do not wait. */
const timesToPass = [
  { collection: 'conversations', field: 'unseenSince' },
  { collection: 'externalMessageIds', field: 'unseenSince' },
  { collection: 'fileRecords', field: 'checkAt' },
] as const;

/**
 * Waits until a system without load has nothing left to do: bulks are applied, due tickets are reopened, intents are
 * executed, tickets are analysed, events are sent and handled, mails have left, deleted tickets are erased by all
 * services, and documents that belong to no ticket are swept. The times until a mail is tried again, and until a
 * document is swept, are ended early.
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
    await analyse(environment, print);
    await sweep(database, print);
    await sendMails(database, print);
    await operateAll({ name: 'drain' }, print, environment);
    const isNotErased = { notErasedBy: { $exists: true } };
    await waitForNone('deleted tickets are not erased yet', () => count(database, 'tickets', isNotErased), print);
  } finally {
    await database.close();
  }
  const left = await operateAll({ name: 'dead-letters' }, print, environment);
  if (left > 0) throw new Error(`${left} events are dead letters.`);
}

/** Ends the times after which a message, a claimed id or a file is swept if no ticket has it; waits for the sweep. */
async function sweep(database: Database, print: Print): Promise<void> {
  const isWaiting = ({ field }: { field: string }) => ({ [field]: { $exists: true } });
  for (const one of timesToPass) {
    const passed = { $set: { [one.field]: new Date(0) } };
    await database.connection.collection(one.collection).updateMany(isWaiting(one), passed);
  }
  for (const one of timesToPass) {
    await waitForNone(
      `${one.collection} are not swept yet`,
      () => count(database, one.collection, isWaiting(one)),
      print,
    );
  }
}

/**
 * Waits until no execution of an intent and no analysis is left. Analyses that wait for another attempt get it now; those that
 * were given up stay.
 */
async function analyse(environment: Environment, print: Print): Promise<void> {
  const database = openStore('intents', environment);
  try {
    await database.opened;
    const isRunning = { execution: { $type: 'string' } };
    await waitForNone('executions are not finished yet', () => count(database, 'intents', isRunning), print);
    const isWaiting = { nextAttemptAt: { $ne: null } };
    await waitForNone(
      'tickets are not analysed yet',
      async () => {
        const now = new Date();
        const isLater = { nextAttemptAt: { $gt: now } };
        await database.connection.collection('analyses').updateMany(isLater, { $set: { nextAttemptAt: now } });
        return count(database, 'analyses', isWaiting);
      },
      print,
    );
  } finally {
    await database.close();
  }
}

/** Has all mails tried again that were deferred, until none is left. */
async function sendMails(database: Database, print: Print): Promise<void> {
  const isQueued = { deliveryStatus: 'queued', 'mail.nextAttemptAt': { $gt: new Date(0) } };
  const isDueNow = { $set: { 'mail.nextAttemptAt': new Date(0) } };
  await waitForNone(
    'mails have not left yet',
    async () => {
      await database.connection.collection('conversations').updateMany(isQueued, isDueNow);
      return count(database, 'conversations', { deliveryStatus: 'queued' });
    },
    print,
  );
}

function count({ connection }: Database, collection: string, query: object): Promise<number> {
  return connection.collection(collection).countDocuments(query);
}

/** Opens the store of the tickets service, which records unfinished bulks, erasures, mails, and documents to sweep. */
export function openTickets(environment: Environment): Database {
  return openStore('tickets', environment);
}

function openStore(service: string, environment: Environment): Database {
  const { store } = sharedConfig(serviceNamed(service), environment);
  if (!store) throw new Error(`The service ${service} has no store.`);
  return openDatabase(store.mongodbUri, store.database, () => undefined);
}
