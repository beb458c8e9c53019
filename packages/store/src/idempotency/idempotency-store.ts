import { randomUUID } from 'node:crypto';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { type Connection, mongo } from 'mongoose';
import { openCollection } from '../connection/open-collection.ts';
import { serverTime } from '../connection/server-time.ts';
import { isDuplicateKey, retryUpsert, storeCall } from '../document/store-error.ts';
import { type Claimed, type Leased, type Leases, openLeases } from '../leases/lease.ts';
import { buildBudgetIndexes, openResponseBudget, type ResponseOwner } from '../quota/response-budget.ts';
import {
  buildPartIndexes,
  openResponseParts,
  type PartCheck,
  type ResponseParts,
  type StoredParts,
} from './response-parts.ts';

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
  /** Whose request it is. */
  sender: ResponseOwner;
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
  /**
   * Claims a request that is new, or whose lease has expired. Otherwise returns the state of the known request.
   *
   * Errors: idempotency_budget_exceeded, for a new request of a sender with too many bytes of stored responses.
   */
  claim(id: string, fingerprint: string, sender: ResponseOwner): Promise<IdempotencyClaim>;
  /** Extends the lease of a request whose processing takes long. Returns false if another process has claimed it. */
  renew(claim: ClaimedRequest): Promise<boolean>;
  /** Records a number under a name, unless one is recorded already. Returns the recorded number. */
  reserve(claim: ClaimedRequest, name: string, proposed: number): Promise<number>;
  /** Records the response, of whatever size, unless another process has claimed the request. */
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
  /** Where a large response is stored. */
  parts?: StoredParts | null;
  /** The subjects of the response, as `kind/id`. They stay when the response is erased. */
  subjects: readonly string[];
  expiresAt: Date;
}

/** A subject that was erased, as `kind/id`. Kept as long as a request whose response is not stored yet. */
interface ErasedSubject {
  _id: string;
  expiresAt: Date;
}

/** A larger response is stored in parts. */
const maxInlineBytes = 1024 * 1024;
const durationMs = 10_000;
const keptMs = 24 * 60 * 60 * 1000;

const openKeys = (connection: Connection) => openCollection<IdempotencyDocument>(connection, 'idempotencyKeys');

const openErasedSubjects = (connection: Connection) => openCollection<ErasedSubject>(connection, 'erasedSubjects');

/** Creates the indexes of the stored requests. */
export async function buildIdempotencyIndexes(connection: Connection): Promise<void> {
  await openErasedSubjects(connection).createIndex({ expiresAt: 1 });
  await openKeys(connection).createIndex({ subjects: 1 });
  await openKeys(connection).createIndex({ expiresAt: 1 });
  await buildPartIndexes(connection);
  await buildBudgetIndexes(connection);
}

/** Opens the requests on a connection. Units: `now` in Unix milliseconds, by the clock of the database server. */
export function openIdempotencyStore(
  connection: Connection,
  now: () => number = () => serverTime(connection),
): IdempotencyStore {
  const collection = openKeys(connection);
  const erasedSubjects = openErasedSubjects(connection);
  const parts = openResponseParts(connection, now, keptMs);
  const budget = openResponseBudget(connection, now, keptMs);
  const records: Records = {
    collection,
    erasedSubjects,
    parts,
    leases: openLeases(collection, { connection, durationMs, now }),
    now,
  };
  const isOwned = (claim: ClaimedRequest) => ({ ...records.leases.isHeld(claim), state: 'running' as const });

  return {
    async claim(id, fingerprint, sender) {
      const [{ isNew, ...found }, exceededForMs] = await Promise.all([
        storeCall(() => claimRequest(records, { id, fingerprint, sender })),
        budget.exceededForMs(sender),
      ]);
      if (found.state !== 'claimed' || !isNew || exceededForMs === undefined) return found;
      await storeCall(() => collection.deleteOne(isOwned(found.claim)));
      throw budgetExceeded(exceededForMs);
    },
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
      const names = subjects.map(subjectName);
      await storeCall(() => budget.add(claim.sender, response.length));
      const isInline = response.length <= maxInlineBytes;
      const stored = isInline
        ? { response: new mongo.Binary(response) }
        : { response: null, parts: await storeCall(() => parts.write(claim.id, response, names)) };
      const done = { state: 'done' as const, ...stored, subjects: names };
      await storeCall(() => collection.updateOne(isOwned(claim), { $set: done }));
      // An erasure that ran before this response was stored has not found it, but has recorded its subject.
      await storeCall(() => eraseIfErased(records, names));
    },
    async release(claim) {
      await storeCall(() => collection.deleteOne(isOwned(claim)));
    },
    async eraseAbout(subject) {
      const _id = subjectName(subject);
      const recorded = { $set: { expiresAt: new Date(now() + keptMs) } };
      await storeCall(() => retryUpsert(() => erasedSubjects.updateOne({ _id }, recorded, { upsert: true })));
      await eraseAbout(records, _id);
    },
    async removeExpired() {
      const isExpired = { expiresAt: { $lte: new Date(now()) } };
      await storeCall(() => parts.check(partCheck(records)));
      await storeCall(() => parts.removeExpired());
      await storeCall(() => budget.removeExpired());
      await storeCall(() => collection.deleteMany(isExpired));
      await storeCall(() => erasedSubjects.deleteMany(isExpired));
    },
  };
}

/** The stored requests, and what a claim of one needs. */
interface Records {
  collection: mongo.Collection<IdempotencyDocument>;
  erasedSubjects: mongo.Collection<ErasedSubject>;
  parts: ResponseParts;
  leases: Leases<IdempotencyDocument>;
  now(): number;
}

/** A request that is to be claimed. */
interface NewRequest extends Pick<IdempotencyDocument, 'fingerprint'> {
  id: string;
  sender: ResponseOwner;
}

async function claimRequest(records: Records, request: NewRequest): Promise<IdempotencyClaim & { isNew?: boolean }> {
  const { collection, now } = records;
  const { id } = request;
  for (;;) {
    const inserted = await insert(records, request);
    const claimed = inserted ?? (await takeOver(records, request));
    if (claimed) return { state: 'claimed', claim: claimed, isNew: inserted !== undefined };
    const known = await collection.findOne({ _id: id });
    if (known && known.expiresAt.getTime() <= now()) {
      await collection.deleteOne({ _id: id, expiresAt: known.expiresAt });
    } else if (known?.state === 'done' && (await eraseIfErased(records, known.subjects))) {
      // Its process died before it could erase the response.
    } else if (known) return describe(known, records.parts);
  }
}

async function insert(
  { collection, leases, now }: Records,
  { id, fingerprint, sender }: NewRequest,
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
    return { id, owner: lease.owner, requestId, reserved: {}, sender };
  } catch (error) {
    if (isDuplicateKey(error)) return undefined;
    throw error;
  }
}

async function takeOver(
  { leases }: Records,
  { id, fingerprint, sender }: NewRequest,
): Promise<ClaimedRequest | undefined> {
  const abandoned = await leases.claim({ _id: id, fingerprint, state: 'running' });
  if (!abandoned) return undefined;
  const { lease, requestId, reserved } = abandoned;
  return { id, owner: lease.owner, requestId, reserved, sender };
}

/** Erases the responses about those of some subjects that have been erased already; returns whether there are any. */
async function eraseIfErased(records: Records, names: readonly string[]): Promise<boolean> {
  if (names.length === 0) return false;
  const erased = await records.erasedSubjects.find({ _id: { $in: [...names] } }).toArray();
  for (const { _id } of erased) await eraseAbout(records, _id);
  return erased.length > 0;
}

async function eraseAbout({ collection, parts }: Records, name: string): Promise<void> {
  const erased = { $set: { state: 'erased' as const, response: null, parts: null, subjects: [name] } };
  await storeCall(() => collection.updateMany({ subjects: name, state: { $ne: 'erased' } }, erased));
  await storeCall(() => parts.eraseAbout(name));
}

/** Decides about parts of responses: those of a process that died before it had recorded them are abandoned. */
function partCheck(records: Records): PartCheck {
  return async ({ response, requestKey, subjects }) => {
    const known = await records.collection.findOne({ _id: requestKey });
    if (known?.state === 'running' && (known.lease?.expiresAt.getTime() ?? 0) > records.now()) return 'undecided';
    if (known?.state !== 'done' || known.parts?.id !== response) return 'abandoned';
    return (await eraseIfErased(records, subjects)) ? 'abandoned' : 'kept';
  };
}

function subjectName({ kind, id }: ResponseSubject): string {
  return `${kind}/${id}`;
}

async function describe(document: IdempotencyDocument, parts: ResponseParts): Promise<IdempotencyClaim> {
  const { state, fingerprint, response, subjects } = document;
  const erased = { state: 'erased' as const, fingerprint, kind: subjects[0]?.split('/')[0] ?? '' };
  if (state === 'erased') return erased;
  if (state === 'done' && document.parts) {
    const whole = await parts.read(document.parts);
    // Parts of a finished request are removed only when they are erased.
    return whole ? { state, fingerprint, response: whole } : erased;
  }
  if (state === 'running' || !response) return { state: 'running', fingerprint };
  return { state, fingerprint, response: new Uint8Array(response.buffer.subarray(0, response.length())) };
}

function budgetExceeded(forMs: number): DomainError {
  const detail =
    'The stored responses of this caller are too large together; send the request later, or without a key.';
  const retryAfterSeconds = Math.ceil(forMs / 1000);
  return new DomainError('resource_exhausted', 'idempotency_budget_exceeded', detail, { retryAfterSeconds });
}
