import { randomUUID } from 'node:crypto';
import { type Connection, mongo } from 'mongoose';
import { openCollection } from '../connection/open-collection.ts';

/** A response that is stored in parts, because a document of MongoDB holds 16 MiB at most. */
export interface StoredParts {
  id: string;
  count: number;
}

/** Some part of a response. */
interface PartDocument {
  _id: string;
  response: string;
  /** The request that the response belongs to. */
  requestKey: string;
  bytes: mongo.Binary;
  /** The subjects of the response, as `kind/id`. */
  subjects: readonly string[];
  /** The time from which the part is removed unless its request refers to it; null once that was checked. */
  checkAt: Date | null;
  expiresAt: Date;
}

/** Finds out whether a request refers to a response: it may also not be decided yet. */
export type PartCheck = (part: {
  response: string;
  requestKey: string;
  subjects: readonly string[];
}) => Promise<'kept' | 'abandoned' | 'undecided'>;

/** The parts of large responses. */
export interface ResponseParts {
  /** Stores a response. It must then be referred to, or is removed by `check` after a minute. */
  write(requestKey: string, response: Uint8Array, subjects: readonly string[]): Promise<StoredParts>;
  /** Undefined if it was erased. */
  read(parts: StoredParts): Promise<Uint8Array | undefined>;
  eraseAbout(subject: string): Promise<void>;
  /** Removes the parts whose process died before a request referred to them. */
  check(decide: PartCheck): Promise<void>;
  removeExpired(): Promise<void>;
}

const partBytes = 4 * 1024 * 1024;
const checkAfterMs = 60_000;
const checkBatch = 100;

const openParts = (connection: Connection) => openCollection<PartDocument>(connection, 'idempotencyParts');

/** Creates the indexes of the parts. */
export async function buildPartIndexes(connection: Connection): Promise<void> {
  const collection = openParts(connection);
  for (const field of ['subjects', 'checkAt', 'expiresAt']) await collection.createIndex({ [field]: 1 });
}

/** Opens the parts on a connection. Units: `now` and `keptMs` in milliseconds. */
export function openResponseParts(connection: Connection, now: () => number, keptMs: number): ResponseParts {
  const collection = openParts(connection);
  return {
    async write(requestKey, response, subjects) {
      const id = randomUUID();
      const count = Math.ceil(response.length / partBytes);
      const expiry = { checkAt: new Date(now() + checkAfterMs), expiresAt: new Date(now() + keptMs) };
      for (let nth = 0; nth < count; nth++) {
        const bytes = new mongo.Binary(response.subarray(nth * partBytes, (nth + 1) * partBytes));
        await collection.insertOne({ _id: `${id}/${nth}`, response: id, requestKey, bytes, subjects, ...expiry });
      }
      return { id, count };
    },
    async read({ id, count }) {
      const parts: Uint8Array[] = [];
      for (let nth = 0; nth < count; nth++) {
        const found = await collection.findOne({ _id: `${id}/${nth}` });
        if (!found) return undefined;
        parts.push(found.bytes.buffer.subarray(0, found.bytes.length()));
      }
      // biome-ignore lint/plugin: the parts are documents that this service has stored
      return Buffer.concat(parts);
    },
    async eraseAbout(subject) {
      await collection.deleteMany({ subjects: subject });
    },
    async check(decide) {
      const due = { checkAt: { $lte: new Date(now()) } };
      const options = { projection: { bytes: 0 }, limit: checkBatch };
      for (const { response, requestKey, subjects } of await collection.find(due, options).toArray()) {
        const outcome = await decide({ response, requestKey, subjects });
        if (outcome === 'kept') await collection.updateMany({ ...due, response }, { $set: { checkAt: null } });
        if (outcome === 'abandoned') await collection.deleteMany({ ...due, response });
      }
    },
    async removeExpired() {
      await collection.deleteMany({ expiresAt: { $lte: new Date(now()) } });
    },
  };
}
