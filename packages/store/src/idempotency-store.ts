import { randomUUID } from 'node:crypto';
import { type Connection, mongo } from 'mongoose';
import { type Claimed, type Leased, openLeases } from './lease.ts';
import { serverTime } from './server-time.ts';
import { isDuplicateKey, storeCall } from './store-error.ts';

/** What a stored response tells of, for example `{ kind: 'Ticket', id: 12 }`: it is erased with it. */
export interface ResponseSubject {
  /** As it is called in "Ticket not found". */
  kind: string;
  id: number;
}

/** A request that this process has claimed, with the numbers that are reserved for it. */
export interface ClaimedRequest extends Claimed {
  /** Marks what the request writes: another, when the key is used again after its time. */
  requestId: string;
  reserved: Readonly<Record<string, number>>;
}

/** What a claim has found. */
export type IdempotencyClaim =
  | { state: 'claimed'; claim: ClaimedRequest }
  | { state: 'running'; fingerprint: string }
  | { state: 'erased'; fingerprint: string; kind: string }
  | { state: 'done'; fingerprint: string; response: Uint8Array };

/**
 * The requests with a key that a service has processed. Every operation is one step that a crash does not divide.
 *
 * Errors of every operation: store_unavailable.
 */
export interface IdempotencyStore {
  /** Claims a request: a new one, or one left by a process whose lease has expired. Else returns what is known of it. */
  claim(id: string, fingerprint: string): Promise<IdempotencyClaim>;
  /** Records a number under a name unless there is one; returns the one that is recorded. */
  reserve(claim: ClaimedRequest, name: string, proposed: number): Promise<number>;
  /** Records the response, if the claim still holds. */
  complete(claim: ClaimedRequest, response: Uint8Array, subjects: readonly ResponseSubject[]): Promise<void>;
  /** Forgets a request that has changed nothing, if the claim still holds. */
  release(claim: ClaimedRequest): Promise<void>;
  /** Erases the responses that tell of something. */
  eraseAbout(subject: ResponseSubject): Promise<void>;
  removeExpired(): Promise<void>;
}

interface IdempotencyDocument extends Leased {
  requestId: string;
  fingerprint: string;
  state: 'running' | 'done' | 'erased';
  reserved: Record<string, number>;
  response: mongo.Binary | null;
  /** What the response tells of, as `kind/id`; of an erased one, what it told of. */
  subjects: readonly string[];
  expiresAt: Date;
}

/** Which of the things that a response tells of are erased. */
export type FindErased = (subjects: readonly ResponseSubject[]) => Promise<readonly ResponseSubject[]>;

const durationMs = 10_000;
const keptMs = 24 * 60 * 60 * 1000;

const collectionOf = (connection: Connection) =>
  connection.collection('idempotencyKeys') as unknown as mongo.Collection<IdempotencyDocument>;

/** Builds the indexes of a service's requests. */
export async function buildIdempotencyIndexes(connection: Connection): Promise<void> {
  await collectionOf(connection).createIndex({ subjects: 1 });
  await collectionOf(connection).createIndex({ expiresAt: 1 });
}

/** Opens the requests on a connection. Units: `now` in Unix milliseconds, by the clock of the database server. */
export function openIdempotencyStore(
  connection: Connection,
  findErased: FindErased,
  now: () => number = () => serverTime(connection),
): IdempotencyStore {
  const records = collectionOf(connection);
  const leases = openLeases(records, { connection, durationMs, now });
  const isMine = (claim: ClaimedRequest) => ({ ...leases.isHeld(claim), state: 'running' as const });

  async function insert(id: string, fingerprint: string): Promise<ClaimedRequest | undefined> {
    const lease = leases.begin();
    const requestId = randomUUID();
    try {
      await records.insertOne({
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

  async function takeOver(id: string, fingerprint: string): Promise<ClaimedRequest | undefined> {
    const abandoned = await leases.claim({ _id: id, fingerprint, state: 'running' });
    if (!abandoned) return undefined;
    const { lease, requestId, reserved } = abandoned;
    return { id, owner: lease.owner, requestId, reserved };
  }

  async function eraseAbout(subject: ResponseSubject): Promise<void> {
    const name = nameOf(subject);
    const erased = { $set: { state: 'erased' as const, response: null, subjects: [name] } };
    await storeCall(() => records.updateMany({ subjects: name, state: { $ne: 'erased' } }, erased));
  }

  return {
    claim: (id, fingerprint) =>
      storeCall(async () => {
        for (;;) {
          const claim = (await insert(id, fingerprint)) ?? (await takeOver(id, fingerprint));
          if (claim) return { state: 'claimed', claim };
          const known = await records.findOne({ _id: id });
          if (known && known.expiresAt.getTime() <= now()) {
            await records.deleteOne({ _id: id, expiresAt: known.expiresAt });
          } else if (known) return describe(known);
        }
      }),
    reserve: (claim, name, proposed) =>
      storeCall(async () => {
        const field = `reserved.${name}`;
        await records.updateOne({ ...isMine(claim), [field]: { $exists: false } }, { $set: { [field]: proposed } });
        const kept = (await records.findOne({ _id: claim.id }))?.reserved[name];
        if (kept === undefined) throw new Error('the request was claimed by another');
        return kept;
      }),
    async complete(claim, response, subjects) {
      const done = { state: 'done' as const, response: new mongo.Binary(response), subjects: subjects.map(nameOf) };
      await storeCall(() => records.updateOne(isMine(claim), { $set: done }));
      // An erasure that came before this response was stored did not find it.
      for (const subject of await findErased(subjects)) await eraseAbout(subject);
    },
    async release(claim) {
      await storeCall(() => records.deleteOne(isMine(claim)));
    },
    eraseAbout,
    async removeExpired() {
      await storeCall(() => records.deleteMany({ expiresAt: { $lte: new Date(now()) } }));
    },
  };
}

function nameOf({ kind, id }: ResponseSubject): string {
  return `${kind}/${id}`;
}

function describe({ state, fingerprint, response, subjects }: IdempotencyDocument): IdempotencyClaim {
  if (state === 'erased') return { state, fingerprint, kind: subjects[0]?.split('/')[0] ?? '' };
  if (state === 'running' || !response) return { state: 'running', fingerprint };
  return { state, fingerprint, response: new Uint8Array(response.buffer.subarray(0, response.length())) };
}
