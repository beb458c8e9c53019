import {
  type WebhookDisabledReason,
  WebhookStatus,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { removePresent } from '@ticketing/store/document/remove-present.ts';
import { conflict } from '@ticketing/store/document/retry-on-conflict.ts';
import { isDuplicateKey, storeCall } from '@ticketing/store/document/store-error.ts';
import { uniqueWrites } from '@ticketing/store/document/unique-writes.ts';
import type { Connection, mongo } from 'mongoose';
import { maxWebhooks, type WebhookState } from './rules/endpoint.ts';
import type { WebhookHealth } from './rules/health.ts';

/** Fields of an endpoint that are written together. */
export type WebhookChange = Partial<Omit<WebhookState, 'id' | 'epoch' | 'createdAt'>>;

/** The webhook endpoints. Errors of every operation: store_unavailable. */
export interface WebhookStore {
  /**
   * Adds an endpoint. Returns false if there are too many; an endpoint that exists already stays as it is.
   *
   * Errors: concurrent_change, if others take the free slots first too often.
   */
  add(webhook: WebhookState): Promise<boolean>;
  find(id: number): Promise<WebhookState | undefined>;
  /** Returns the id of an endpoint that names a subchannel; undefined if there is none. */
  findBySubchannel(subchannelId: number): Promise<number | undefined>;
  /** Returns all endpoints by id: there are few. */
  all(): Promise<WebhookState[]>;
  /**
   * Changes an endpoint; undefined if it does not exist. With `restarts`, dispatchers forget the health that they have
   * observed.
   */
  change(id: number, change: WebhookChange, restarts?: boolean): Promise<WebhookState | undefined>;
  /** Replaces the secrets, if they are still those of `before`. Returns whether they were. */
  replaceSecrets(before: WebhookState, secrets: WebhookState['secrets']): Promise<boolean>;
  /** Ends the pause of the breaker, so that one attempt is made at once. */
  endPause(id: number): Promise<void>;
  /** Records the health that a dispatcher has observed, unless a request has changed it. */
  saveHealth(id: number, epoch: number, health: WebhookHealth): Promise<void>;
  /** Disables an endpoint, unless a request has changed it. Returns whether it did. */
  disable(id: number, epoch: number, reason: WebhookDisabledReason): Promise<boolean>;
  /** Returns whether the endpoint existed. */
  remove(id: number): Promise<boolean>;
  countDisabled(): Promise<number>;
  /** Counts the active endpoints whose attempts have only failed since a time, or for longer. Units: Unix ms. */
  countFailingSince(time: number): Promise<number>;
}

interface WebhookDocument extends Omit<WebhookState, 'id'> {
  _id: number;
  /** A number below the limit of endpoints. It is unique, so that the limit holds for concurrent requests too. */
  slot: number;
}

const webhookCollection = (connection: Connection) => openCollection<WebhookDocument>(connection, 'webhooks');

/** Builds the missing indexes of the webhook endpoints. */
export async function buildWebhookIndexes(connection: Connection): Promise<void> {
  await webhookCollection(connection).createIndex({ slot: 1 }, { unique: true });
}

/** Opens the webhook endpoints on a connection. */
export function webhookStore(connection: Connection, runtime: Pick<Runtime, 'random'>): WebhookStore {
  const webhooks = webhookCollection(connection);
  const write = uniqueWrites(runtime);

  async function attemptAdd({ id, ...state }: WebhookState): Promise<boolean | typeof conflict> {
    const others = await webhooks.find({}, { projection: { slot: 1 } }).toArray();
    if (others.some(({ _id }) => _id === id)) return true;
    const taken = new Set(others.map(({ slot }) => slot));
    const free = Array.from({ length: maxWebhooks }, (_, index) => index).filter((index) => !taken.has(index));
    // The slot is random, so that concurrent requests seldom want the same one.
    const slot = free[Math.floor(runtime.random() * free.length)];
    if (slot === undefined) return false;
    try {
      await webhooks.insertOne({ _id: id, ...state, slot });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return conflict;
      throw error;
    }
  }

  return {
    add: (webhook) => storeCall(() => write(() => attemptAdd(webhook))),
    find: (id) => storeCall(async () => fromDocument(await webhooks.findOne({ _id: id }))),
    all: () =>
      storeCall(async () =>
        (await webhooks.find().sort({ _id: 1 }).toArray()).flatMap((one) => fromDocument(one) ?? []),
      ),
    findBySubchannel: (subchannelId) =>
      storeCall(
        async () => (await webhooks.find({ subchannelIds: subchannelId }).sort({ _id: 1 }).limit(1).toArray())[0]?._id,
      ),
    change: (id, change, restarts = false) =>
      storeCall(async () => {
        const update = { $set: change, $inc: { epoch: restarts ? 1 : 0 } };
        return fromDocument(await webhooks.findOneAndUpdate({ _id: id }, update, { returnDocument: 'after' }));
      }),
    replaceSecrets: ({ id, secrets: before }, secrets) =>
      storeCall(async () => {
        const newest = before[0]?.sealed.data;
        const filter = { _id: id, 'secrets.0.sealed.data': newest } as mongo.Filter<WebhookDocument>;
        return (await webhooks.updateOne(filter, { $set: { secrets } })).matchedCount === 1;
      }),
    endPause: (id) =>
      storeCall(async () => {
        const filter = { _id: id, 'health.pausedUntil': { $ne: null } } as mongo.Filter<WebhookDocument>;
        await webhooks.updateOne(filter, { $set: { 'health.pausedUntil': null }, $inc: { epoch: 1 } });
      }),
    saveHealth: (id, epoch, health) =>
      storeCall(async () => {
        await webhooks.updateOne({ _id: id, epoch }, { $set: { health } });
      }),
    disable: (id, epoch, disabledReason) =>
      storeCall(async () => {
        const filter = { _id: id, epoch, status: { $ne: WebhookStatus.DISABLED } };
        const update = { $set: { status: WebhookStatus.DISABLED, disabledReason } };
        return (await webhooks.updateOne(filter, update)).matchedCount === 1;
      }),
    remove: (id) =>
      storeCall(() =>
        removePresent(
          async () => (await webhooks.deleteOne({ _id: id })).deletedCount === 1,
          async () => (await webhooks.countDocuments({ _id: id }, { limit: 1 })) > 0,
        ),
      ),
    countFailingSince: (time) =>
      storeCall(() => {
        const filter = {
          status: WebhookStatus.ACTIVE,
          'health.firstFailureAt': { $ne: null, $lte: time },
        } as mongo.Filter<WebhookDocument>;
        return webhooks.countDocuments(filter);
      }),
    countDisabled: () => storeCall(() => webhooks.countDocuments({ status: WebhookStatus.DISABLED })),
  };
}

function fromDocument(document: WebhookDocument | null): WebhookState | undefined {
  if (!document) return undefined;
  const { _id, slot: _slot, ...state } = document;
  return { id: _id, ...state };
}
