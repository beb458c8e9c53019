import { DomainError } from '@ticketing/errors/domain-error.ts';
import { firstInOutbox, type OutboxFields, outboxIndex, outboxPush } from '@ticketing/events/outbox/outbox.ts';
import { keyedQueue } from '@ticketing/runtime/keyed-queue.ts';
import { isDuplicateKey, storeCall } from '@ticketing/store/document/store-error.ts';
import type { Connection, mongo } from 'mongoose';
import {
  type ConfigurationChange,
  type ConfigurationState,
  emptyConfiguration,
  type SubchannelState,
} from './rules/configuration.ts';

/** The event that the configuration has changed, in its outbox. Units: Unix seconds. */
export interface ConfigurationEvent {
  eventId: string;
  version: number;
  occurredAt: number;
  names: readonly string[];
  subchannelIds: readonly number[];
  traceparent?: string;
}

/** Makes a change for the current configuration; undefined if nothing changes. It may be called more than once. */
export type DecideConfiguration = (
  current: ConfigurationState,
) => ConfigurationChange | undefined | Promise<ConfigurationChange | undefined>;

/** The configuration of the installation. Errors of every operation: store_unavailable. */
export interface ConfigurationStore {
  read(): Promise<ConfigurationState>;
  /**
   * Changes the configuration, and stores the event of the change with it. Returns the configuration after the change.
   *
   * Errors: what `decide` throws; concurrent_change if too many other changes come first.
   */
  change(decide: DecideConfiguration, header: EventHeader): Promise<ConfigurationState>;
}

/** The fields of an event that do not come from the change itself. */
export type EventHeader = Pick<ConfigurationEvent, 'eventId' | 'occurredAt' | 'traceparent'>;

/** Values to which a client may give any shape are stored as JSON text: documents cannot have every key. */
interface StoredConfiguration
  extends Pick<ConfigurationState, 'version' | 'secrets'>,
    Partial<Pick<ConfigurationState, 'deletedTemplateIds'>> {
  values: string;
  subchannels: readonly StoredSubchannel[];
}

interface StoredSubchannel extends Omit<SubchannelState, 'data' | 'secrets'> {
  data: string;
  secrets: string;
}

type ConfigurationDocument = StoredConfiguration & OutboxFields<ConfigurationEvent> & { _id: number };

/** The name of the collection with the one document of the configuration. */
export const configurationCollection = 'configuration';

const _id = 1;
const maxAttempts = 20;

const collectionOf = (connection: Connection) =>
  connection.collection(configurationCollection) as unknown as mongo.Collection<ConfigurationDocument>;

/** Builds the missing indexes of the configuration. */
export async function buildConfigurationIndexes(connection: Connection): Promise<void> {
  await collectionOf(connection).createIndex(outboxIndex.index, outboxIndex.options);
}

/** Opens the configuration on a connection. `onEvent` is called after each write that has stored an event. */
export function configurationStore(connection: Connection, onEvent: () => void): ConfigurationStore {
  const documents = collectionOf(connection);
  const queue = keyedQueue<number>();

  async function read(): Promise<ConfigurationState> {
    const found = await documents.findOne({ _id }, { projection: { outbox: 0, outboxSince: 0, unsent: 0 } });
    return found ? loaded(found) : emptyConfiguration;
  }

  /** Returns false if another process has changed the configuration first. */
  async function write(state: ConfigurationState, event: ConfigurationEvent): Promise<boolean> {
    if (state.version > 1) {
      const filter = { _id, version: state.version - 1 };
      const { matchedCount } = await documents.updateOne(filter, {
        $set: stored(state),
        ...outboxPush(event),
      } as never);
      return matchedCount === 1;
    }
    try {
      await documents.insertOne({ _id, ...stored(state), ...firstInOutbox(event) });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async function change(decide: DecideConfiguration, header: EventHeader): Promise<ConfigurationState> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const current = await storeCall(read);
      const decided = await decide(current);
      if (!decided) return current;
      const state = { ...decided.state, version: current.version + 1 };
      const { names, subchannelIds } = decided;
      const isWritten = await storeCall(() =>
        write(state, { ...header, version: state.version, names, subchannelIds }),
      );
      if (!isWritten) continue;
      onEvent();
      return state;
    }
    throw new DomainError('aborted', 'concurrent_change', 'The settings were changed by others at the same time.');
  }

  return {
    read: () => storeCall(read),
    // Changes run one after the other in this process; the version detects changes by another process.
    change: (decide, header) => queue.run(_id, () => change(decide, header)),
  };
}

function stored(state: ConfigurationState): StoredConfiguration {
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

function loaded(document: StoredConfiguration): ConfigurationState {
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
