import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { serverTime } from '@ticketing/store/connection/server-time.ts';
import { isDuplicateKey, retryUpsert, storeCall } from '@ticketing/store/document/store-error.ts';
import { type Claimed, type Leased, openLeases } from '@ticketing/store/leases/lease.ts';
import { type Connection, mongo } from 'mongoose';
import type { LearnedModel } from './rules/training-due.ts';

/** A model that was learned, without its bytes. Units: Unix ms. */
export interface StoredModel extends LearnedModel {
  version: number;
  /** The number of examples from which it was learned. */
  examples: number;
  /** The number of labels that it knows. */
  labels: number;
}

/** A training that only this process makes, until its lease expires. */
export interface ClaimedTraining {
  claim: Claimed;
  /** When it was claimed, by the clock of the database. Units: Unix ms. */
  startedAt: number;
  /** The number of erasures until then. */
  erasures: number;
  failures: number;
  /** The version of the newest model then, of whatever format; 0: none. */
  latest: number;
}

/**
 * The models in the format of this program, and the lease to learn the next one. Errors of every operation:
 * store_unavailable.
 */
export interface ModelStore {
  newest(): Promise<StoredModel | undefined>;
  /** Returns the bytes of a model; undefined if it is not stored any more. */
  readBytes(version: number): Promise<Uint8Array | undefined>;
  /** Removes a model that is damaged. */
  discard(version: number): Promise<void>;
  /**
   * Removes models that know examples which were erased before the newest model was learned, and all but the latest
   * models.
   */
  removeOld(): Promise<void>;
  /** Notes that examples were erased, which newer models do not know. */
  noteErasure(): Promise<void>;
  /** Returns the number of erasures. */
  erasures(): Promise<number>;
  /** Claims the training; undefined if another process trains, or a failed one is too recent. */
  claim(): Promise<ClaimedTraining | undefined>;
  renew(claim: Claimed): Promise<boolean>;
  /**
   * Stores a model with the next version, removes old ones, and ends the claim. Undefined if another process has stored
   * one meanwhile, or the claim is lost.
   */
  store(
    training: ClaimedTraining,
    model: { bytes: Uint8Array; examples: number; labels: number },
  ): Promise<StoredModel | undefined>;
  /** Ends a training without a model. A failure delays the next training. */
  release(training: ClaimedTraining, failure?: { error: string; delayMs: number }): Promise<void>;
}

interface ModelDocument extends Omit<StoredModel, 'version' | 'trainedAt'> {
  _id: number;
  /** Programs that cannot read this format skip the model. */
  format: number;
  bytes: mongo.Binary;
  trainedAt: Date;
}

/** The one document of its collection. */
interface TrainingDocument extends Leased {
  erasures: number;
  failures: number;
  /** After a failure. */
  notBefore: Date | null;
  lastError: string | null;
}

const leaseMs = 20_000;
const kept = 3;
const _id = 'model';

/** The fields of a model that are read without its bytes. */
const described = { trainedAt: 1, durationMs: 1, erasures: 1, examples: 1, labels: 1 } as const;

function modelCollection(connection: Connection): mongo.Collection<ModelDocument> {
  return openCollection<ModelDocument>(connection, 'models');
}

/** Builds the missing indexes of the models. */
export async function buildModelIndexes(connection: Connection): Promise<void> {
  // The index contains all fields that are read every second, so that no document of several MB is read for them.
  await modelCollection(connection).createIndex({ format: 1, _id: -1, ...described });
}

/** Opens the models on a connection. */
export function modelStore(connection: Connection, format: number): ModelStore {
  const models = modelCollection(connection);
  const training = openCollection<TrainingDocument>(connection, 'training');
  const leases = openLeases<TrainingDocument>(training, { connection, durationMs: leaseMs });
  const now = () => serverTime(connection);
  const initial = { erasures: 0, failures: 0, notBefore: null, lastError: null };
  return {
    newest: () =>
      storeCall(async () => {
        const found = await models.findOne({ format }, { sort: { _id: -1 }, projection: described });
        return found ? fromDocument(found) : undefined;
      }),
    readBytes: (version) =>
      storeCall(async () => {
        const found = await models.findOne({ _id: version, format }, { projection: { bytes: 1 } });
        return found?.bytes.value();
      }),
    discard: (version) => storeCall(async () => void (await models.deleteOne({ _id: version }))),
    removeOld: () => storeCall(() => removeOld(models)),
    noteErasure: () =>
      storeCall(async () => {
        const { erasures, ...others } = initial;
        const update = { $inc: { erasures: 1 }, $setOnInsert: { ...others, lease: null } };
        await retryUpsert(() => training.updateOne({ _id }, update, { upsert: true }));
      }),
    erasures: () => storeCall(async () => (await training.findOne({ _id }))?.erasures ?? 0),
    claim: () =>
      storeCall(async () => {
        const startedAt = now();
        const mayTrain = { _id, notBefore: { $not: { $gt: new Date(startedAt) } } };
        const found = await leases.claim(mayTrain, { setOnInsert: initial });
        if (!found) return undefined;
        const { erasures, failures, lease } = found;
        const latest = await models.findOne({}, { sort: { _id: -1 }, projection: { _id: 1 } });
        return { claim: { id: _id, owner: lease.owner }, startedAt, erasures, failures, latest: latest?._id ?? 0 };
      }),
    renew: (claim) => storeCall(() => leases.renew(claim)),
    store: ({ claim, startedAt, erasures, latest }, model) =>
      storeCall(async () => {
        if (!(await leases.renew(claim))) return undefined;
        const document: ModelDocument = {
          ...model,
          _id: latest + 1,
          format,
          bytes: new mongo.Binary(model.bytes),
          trainedAt: new Date(startedAt),
          durationMs: now() - startedAt,
          erasures,
        };
        try {
          await models.insertOne(document);
        } catch (error) {
          if (isDuplicateKey(error)) return undefined;
          throw error;
        }
        await removeOld(models);
        await leases.release(claim, { failures: 0, notBefore: null, lastError: null });
        return fromDocument(document);
      }),
    release: ({ claim, failures }, failure) =>
      storeCall(async () => {
        const { error: lastError, delayMs } = failure ?? { error: null, delayMs: 0 };
        const failed = { failures: failures + 1, notBefore: new Date(now() + delayMs), lastError };
        await leases.release(claim, failure ? failed : {});
      }),
  };
}

function fromDocument({
  _id: version,
  trainedAt,
  durationMs,
  erasures,
  examples,
  labels,
}: Omit<ModelDocument, 'bytes' | 'format'>) {
  return { version, trainedAt: trainedAt.getTime(), durationMs, erasures, examples, labels };
}

async function removeOld(models: mongo.Collection<ModelDocument>): Promise<void> {
  const newest = await models.findOne({}, { sort: { _id: -1 }, projection: { erasures: 1 } });
  if (!newest) return;
  const isOld = { $or: [{ erasures: { $lt: newest.erasures } }, { _id: { $lte: newest._id - kept } }] };
  await models.deleteMany({ _id: { $lt: newest._id }, ...isOld });
}
