import { firstInOutbox, type OutboxFields, outboxIndex, outboxPush } from '@ticketing/events/outbox/outbox.ts';
import { keyedQueue } from '@ticketing/runtime/keyed-queue.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import { isDuplicateKey, storeCall } from '@ticketing/store/document/store-error.ts';
import type { Connection } from 'mongoose';
import { emptySettings, type SettingsChange, type SettingsState, type SubchannelState } from './rules/settings.ts';

/** The event that the settings have changed, in their outbox. Units: Unix seconds. */
export interface SettingsEvent {
  eventId: string;
  version: number;
  occurredAt: number;
  names: readonly string[];
  subchannelIds: readonly number[];
  traceparent?: string;
}

/** Decides a change of the current settings; undefined if nothing changes. It may be called more than once. */
export type DecideChange = (current: SettingsState) => SettingsChange | undefined;

/** The settings and subchannels of the installation. Errors of every operation: store_unavailable. */
export interface SettingsStore {
  read(): Promise<SettingsState>;
  /**
   * Reads, decides and commits the change with its event. Returns the settings after the change.
   *
   * Errors: what `decide` throws; concurrent_change if too many other changes come first.
   */
  change(decide: DecideChange, newEvent: NewEvent): Promise<SettingsState>;
}

/** The fields of an event that do not come from the change itself. */
export type NewEvent = Pick<SettingsEvent, 'eventId' | 'occurredAt' | 'traceparent'>;

/** Values to which a client may give any shape are stored as JSON text: documents cannot have every key. */
interface StoredSettings
  extends Pick<SettingsState, 'version' | 'secrets'>,
    Partial<Pick<SettingsState, 'deletedTemplateIds'>> {
  values: string;
  subchannels: readonly StoredSubchannel[];
}

interface StoredSubchannel extends Omit<SubchannelState, 'data' | 'secrets'> {
  data: string;
  secrets: string;
}

type SettingsDocument = StoredSettings & OutboxFields<SettingsEvent> & { _id: number };

/** The name of the collection with the one document of the settings. */
export const settingsCollection = 'configuration';

const _id = 1;
const tooOften = 'The settings were changed by others at the same time.';

const settingsDocuments = (connection: Connection) => openCollection<SettingsDocument>(connection, settingsCollection);

/** Builds the missing indexes of the settings. */
export async function buildSettingsIndexes(connection: Connection): Promise<void> {
  await settingsDocuments(connection).createIndex(outboxIndex.index, outboxIndex.options);
}

/** Opens the settings on a connection. `onEvent` is called after each write that has stored an event. */
export function settingsStore(
  connection: Connection,
  onEvent: () => void,
  runtime: Pick<Runtime, 'random'>,
): SettingsStore {
  const documents = settingsDocuments(connection);
  const queue = keyedQueue<number>();

  async function read(): Promise<SettingsState> {
    const document = await documents.findOne({ _id }, { projection: { outbox: 0, outboxSince: 0, unsent: 0 } });
    return document ? fromDocument(document) : emptySettings;
  }

  /** Returns false if another process has changed the settings first. */
  async function write(state: SettingsState, event: SettingsEvent): Promise<boolean> {
    if (state.version > 1) {
      const filter = { _id, version: state.version - 1 };
      const { matchedCount } = await documents.updateOne(filter, {
        $set: toFields(state),
        ...outboxPush(event),
      } as never);
      return matchedCount === 1;
    }
    try {
      await documents.insertOne({ _id, ...toFields(state), ...firstInOutbox(event) });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async function attemptChange(decide: DecideChange, newEvent: NewEvent): Promise<SettingsState | typeof conflict> {
    const before = await storeCall(read);
    const change = decide(before);
    if (!change) return before;
    const { names, subchannelIds } = change;
    const after = { ...change.state, version: before.version + 1 };
    const event = { ...newEvent, version: after.version, names, subchannelIds };
    if (!(await storeCall(() => write(after, event)))) return conflict;
    onEvent();
    return after;
  }

  return {
    read: () => storeCall(read),
    // Changes run one after the other in this process; the version detects changes by another process.
    change: (decide, newEvent) =>
      queue.run(_id, () => retryOnConflict(runtime, tooOften, () => attemptChange(decide, newEvent))),
  };
}

function toFields(state: SettingsState): StoredSettings {
  const { version, values, secrets, subchannels, deletedTemplateIds } = state;
  return {
    version,
    values: JSON.stringify(values),
    secrets,
    deletedTemplateIds,
    subchannels: subchannels.map((one) => ({
      ...one,
      data: JSON.stringify(one.data),
      secrets: JSON.stringify(one.secrets),
    })),
  };
}

function fromDocument(document: StoredSettings): SettingsState {
  const { version, values, secrets, subchannels, deletedTemplateIds = [] } = document;
  return {
    version,
    values: JSON.parse(values),
    secrets,
    deletedTemplateIds,
    subchannels: subchannels.map((one) => ({
      ...one,
      data: JSON.parse(one.data),
      secrets: JSON.parse(one.secrets),
    })),
  };
}
