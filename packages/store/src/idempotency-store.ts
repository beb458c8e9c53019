import { randomUUID } from 'node:crypto';
import { type Connection, mongo } from 'mongoose';
import { type Claimed, type Leased, type Leases, openLeases } from './lease.ts';
import { serverTime } from './server-time.ts';
import { isDuplicateKey, retryUpsert, storeCall } from './store-error.ts';

/** Something that a stored response describes, for example `{ kind: 'Ticket', id: 12 }`. Both are erased together. */
export interface ResponseSubject {
  /** The name that error messages use, as in "Ticket not found". */
  kind: string;
  id: number;
}

/** A request that this process has claimed, with the numbers that were reserved for it by name. */
export interface ClaimedRequest extends Claimed {
  /** Marks the documents that the request changes. A key that is used again after a day gets another one. */
  requestId: string;
  reserved: Readonly<Record<string, number>>;
}

/** The result of a claim: the claimed request, or the state of a request that cannot be claimed. */
export type IdempotencyClaim =
  | { state: 'claimed'; claim: ClaimedRequest }
  | { state: 'running'; fingerprint: string }
  | { state: 'erased'; fingerprint: string; kind: string }
  | { state: 'done'; fingerprint: string; response: Uint8Array };

/**
 * The requests with an idempotency key that a service has processed. A crash leaves no operation half done.
 *
 * Errors of every operation: store_unavailable.
 */
export interface IdempotencyStore {
  /** Claims a request that is new, or whose lease has expired. Otherwise returns the state of the known request. */
  claim(id: string, fingerprint: string): Promise<IdempotencyClaim>;
  /** Extends the lease of a request whose processing takes long. Returns false if another process has claimed it. */
  renew(claim: ClaimedRequest): Promise<boolean>;
  /** Records a number under a name, unless one is recorded already. Returns the recorded number. */
  reserve(claim: ClaimedRequest, name: string, proposed: number): Promise<number>;
  /** Records the response, unless another process has claimed the request. */
  complete(claim: ClaimedRequest, response: Uint8Array, subjects: readonly ResponseSubject[]): Promise<void>;
  /** Removes a request that has changed nothing, unless another process has claimed it. */
  release(claim: ClaimedRequest): Promise<void>;
  /** Erases the responses about a subject, also those that are stored within the next day. */
  eraseAbout(subject: ResponseSubject): Promise<void>;
  removeExpired(): Promise<void>;
}

interface IdempotencyDocument extends Leased {
  requestId: string;
  fingerprint: string;
  state: 'running' | 'done' | 'erased';
  reserved: Record<string, number>;
  response: mongo.Binary | null;
  /** What the response describes, as `kind/id`. It stays when the response is erased. */
  subjects: readonly string[];
  expiresAt: Date;
}

/** A subject that was erased, as `kind/id`. Kept as long as a request whose response is not stored yet. */
interface ErasedSubject {
  _id: string;
  expiresAt: Date;
}

const durationMs = 10_000;
const keptMs = 24 * 60 * 60 * 1000;

const collectionOf = (connection: Connection) =>
  connection.collection('idempotencyKeys') as unknown as mongo.Collection<IdempotencyDocument>;

const erasedSubjectsOf = (connection: Connection) =>
  connection.collection('erasedSubjects') as unknown as mongo.Collection<ErasedSubject>;

/** Creates the indexes of the stored requests. */
export async function buildIdempotencyIndexes(connection: Connection): Promise<void> {
  await erasedSubjectsOf(connection).createIndex({ expiresAt: 1 });
  await collectionOf(connection).createIndex({ subjects: 1 });
  await collectionOf(connection).createIndex({ expiresAt: 1 });
}

/** Opens the requests on a connection. Units: `now` in Unix milliseconds, by the clock of the database server. */
export function openIdempotencyStore(
  connection: Connection,
  now: () => number = () => serverTime(connection),
): IdempotencyStore {
  const collection = collectionOf(connection);
  const erasedSubjects = erasedSubjectsOf(connection);
  const records: Records = {
    collection,
    erasedSubjects,
    leases: openLeases(collection, { connection, durationMs, now }),
    now,
  };
  const isOwned = (claim: ClaimedRequest) => ({ ...records.leases.isHeld(claim), state: 'running' as const });

  return {
    claim: (id, fingerprint) => storeCall(() => claimRequest(records, id, fingerprint)),
    renew: (claim) => storeCall(() => records.leases.renew(claim)),
    reserve: (claim, name, proposed) =>
      storeCall(async () => {
        const field = `reserved.${name}`;
        await collection.updateOne({ ...isOwned(claim), [field]: { $exists: false } }, { $set: { [field]: proposed } });
        const recorded = (await collection.findOne({ _id: claim.id }))?.reserved[name];
        if (recorded === undefined) throw new Error('another process has claimed the request');
        return recorded;
      }),
    async complete(claim, response, subjects) {
      const done = { state: 'done' as const, response: new mongo.Binary(response), subjects: subjects.map(nameOf) };
      await storeCall(() => collection.updateOne(isOwned(claim), { $set: done }));
      // An erasure that ran before this response was stored has not found it, but has recorded its subject.
      await storeCall(() => eraseIfErased(records, done.subjects));
    },
    async release(claim) {
      await storeCall(() => collection.deleteOne(isOwned(claim)));
    },
    async eraseAbout(subject) {
      const _id = nameOf(subject);
      const recorded = { $set: { expiresAt: new Date(now() + keptMs) } };
      await storeCall(() => retryUpsert(() => erasedSubjects.updateOne({ _id }, recorded, { upsert: true })));
      await eraseAbout(collection, _id);
    },
    async removeExpired() {
      const isExpired = { expiresAt: { $lte: new Date(now()) } };
      await storeCall(() => collection.deleteMany(isExpired));
      await storeCall(() => erasedSubjects.deleteMany(isExpired));
    },
  };
}

/** The stored requests, and what a claim of one needs. */
interface Records {
  collection: mongo.Collection<IdempotencyDocument>;
  erasedSubjects: mongo.Collection<ErasedSubject>;
  leases: Leases<IdempotencyDocument>;
  now(): number;
}

async function claimRequest(records: Records, id: string, fingerprint: string): Promise<IdempotencyClaim> {
  const { collection, now } = records;
  for (;;) {
    const claimed = (await insert(records, id, fingerprint)) ?? (await takeOver(records, id, fingerprint));
    if (claimed) return { state: 'claimed', claim: claimed };
    const known = await collection.findOne({ _id: id });
    if (known && known.expiresAt.getTime() <= now()) {
      await collection.deleteOne({ _id: id, expiresAt: known.expiresAt });
    } else if (known?.state === 'done' && (await eraseIfErased(records, known.subjects))) {
      // Its process died before it could erase the response.
    } else if (known) return describe(known);
  }
}

async function insert(
  { collection, leases, now }: Records,
  id: string,
  fingerprint: string,
): Promise<ClaimedRequest | undefined> {
  const lease = leases.begin();
  const requestId = randomUUID();
  try {
    await collection.insertOne({
      _id: id,
      lease,
      requestId,
      fingerprint,
      state: 'running',
      reserved: {},
      response: null,
      subjects: [],
      expiresAt: new Date(now() + keptMs),
    });
    return { id, owner: lease.owner, requestId, reserved: {} };
  } catch (error) {
    if (isDuplicateKey(error)) return undefined;
    throw error;
  }
}

async function takeOver({ leases }: Records, id: string, fingerprint: string): Promise<ClaimedRequest | undefined> {
  const abandoned = await leases.claim({ _id: id, fingerprint, state: 'running' });
  if (!abandoned) return undefined;
  const { lease, requestId, reserved } = abandoned;
  return { id, owner: lease.owner, requestId, reserved };
}

/** Erases the responses about those of some subjects that have been erased already; returns whether there are any. */
async function eraseIfErased({ collection, erasedSubjects }: Records, names: readonly string[]): Promise<boolean> {
  if (names.length === 0) return false;
  const erased = await erasedSubjects.find({ _id: { $in: [...names] } }).toArray();
  for (const { _id } of erased) await eraseAbout(collection, _id);
  return erased.length > 0;
}

async function eraseAbout(collection: mongo.Collection<IdempotencyDocument>, name: string): Promise<void> {
  const erased = { $set: { state: 'erased' as const, response: null, subjects: [name] } };
  await storeCall(() => collection.updateMany({ subjects: name, state: { $ne: 'erased' } }, erased));
}

function nameOf({ kind, id }: ResponseSubject): string {
  return `${kind}/${id}`;
}

function describe({ state, fingerprint, response, subjects }: IdempotencyDocument): IdempotencyClaim {
  if (state === 'erased') return { state, fingerprint, kind: subjects[0]?.split('/')[0] ?? '' };
  if (state === 'running' || !response) return { state: 'running', fingerprint };
  return { state, fingerprint, response: new Uint8Array(response.buffer.subarray(0, response.length())) };
}
