import type { Logger } from '@ticketing/runtime/logger.ts';
import type { ModelStore } from './model-store.ts';

/** The interval at which the store is asked for a newer model. */
const maxAgeMs = 1_000;

/** Opens the newest model of the store. Its bytes are read once. */
export function openCurrentModel(
  models: Pick<ModelStore, 'newest' | 'readBytes' | 'discard'>,
  now: () => number,
  log: Logger,
): ModelSource {
  let current: ModelBytes | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const version = (await models.newest())?.version;
    if (version === current?.version) return;
    const bytes = version === undefined ? undefined : await models.readBytes(version);
    // It was removed in between, because there is a newer one.
    if (version !== undefined && !bytes) return;
    current = version === undefined || !bytes ? undefined : { version, bytes };
    log.info({ version }, 'another model is used');
  }

  return {
    async current() {
      const age = now() - readAt;
      if (age >= maxAgeMs) {
        reading ??= read()
          .catch((error: unknown) => log.warn({ err: error }, 'the newest model cannot be read'))
          .finally(() => {
            readAt = now();
            reading = undefined;
          });
        await reading;
      }
      return current;
    },
    async discard(version) {
      await models.discard(version);
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** The newest model that is stored. */
export interface ModelSource {
  /** Undefined if nothing was learned yet. While the store is unavailable it is the last one. */
  current(): Promise<ModelBytes | undefined>;
  /** Removes a model that cannot be read, so that another one is used and learned. Errors: store_unavailable. */
  discard(version: number): Promise<void>;
}

/** A model as bytes. */
export interface ModelBytes {
  /** Newer models have higher ones; from 1 on. */
  version: number;
  bytes: Uint8Array;
}
