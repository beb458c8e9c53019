import { join } from 'node:path';
import { type Exit, startEmbeddedMongo } from '@ticketing/embedded-mongo/embedded-mongo.ts';

/** The store of a development system. */
export interface Store {
  uri: string;
  /** The id of the process of the embedded store; undefined for a server that `MONGODB_URI` names. */
  pid?: number;
  /** Resolves when the embedded store has ended; never resolves for a server that `MONGODB_URI` names. */
  exited: Promise<Exit>;
  stop(): Promise<void>;
}

/** Enough for the journal of some minutes, for a checkpoint, and for a recovery. */
const reserveMb = 128;

/** Opens the store: the one that `MONGODB_URI` names, or the embedded one in the data folder. */
export async function openStore(dataDir: string, givenUri: string | undefined): Promise<Store> {
  if (givenUri) return { uri: givenUri, exited: new Promise(() => undefined), stop: async () => undefined };
  return startEmbeddedMongo({ dataDir: join(dataDir, 'mongodb'), reserveMb });
}
