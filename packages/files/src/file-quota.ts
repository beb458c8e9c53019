import type { Configuration } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { type Caller, callerKey, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import { defaultConfiguration } from '@ticketing/service-kit/settings/settings-copy.ts';
import { serverTime } from '@ticketing/store/connection/server-time.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import { buildHourIndexes, exceededForMs, openHourlyBytes } from '@ticketing/store/quota/hourly-bytes.ts';
import type { Connection } from 'mongoose';

/** How many bytes of files each caller stores within 24 hours. Only people have a limit. */
export interface FileQuota {
  /**
   * Counts bytes before they are stored. Returns a function that subtracts bytes again, if they were not stored after
   * all. Errors: storage_quota, store_unavailable; nothing is counted.
   */
  take(caller: Caller, bytes: number): Promise<() => Promise<void>>;
  removeExpired(): Promise<void>;
}

/** The setting of the installation that the quota reads. */
export interface FileSettings {
  fileMibPerDay: number;
}

/** Picks the setting of the quota. A copy of the settings that an older version has made does not have it. */
export function readFileSettings({ settings }: Configuration): FileSettings {
  return { fileMibPerDay: settings?.fileMibPerDay ?? defaultConfiguration.settings?.fileMibPerDay ?? 0 };
}

const collection = 'fileBytes';
const keptMs = 24 * 60 * 60 * 1000;
const mib = 1024 * 1024;

/** Builds the missing indexes of the counts. */
export function buildQuotaIndexes(connection: Connection): Promise<void> {
  return buildHourIndexes(connection, collection);
}

/**
 * Opens the counts on a connection. An hour counts until 24 hours after its end. All replicas count together: each counts
 * first and then looks at the sum, so that two requests at the same time never store too much.
 */
export function openFileQuota(
  connection: Connection,
  settings: () => Promise<FileSettings>,
  now: () => number = () => serverTime(connection),
): FileQuota {
  const counts = openHourlyBytes(connection, collection, { now, keptMs });
  return {
    async take(caller, bytes) {
      if (!isHuman(caller) || bytes === 0) return async () => undefined;
      const maxBytes = (await settings()).fileMibPerDay * mib;
      const owner = callerKey(caller);
      const hour = counts.hour();
      const add = (added: number) => storeCall(() => counts.add(owner, added, hour));
      const giveBack = () => add(-bytes);
      await add(bytes);
      const hours = await storeCall(() => counts.hours(owner)).catch(async (error: unknown) => {
        await giveBack().catch(() => undefined);
        throw error;
      });
      const used = hours.reduce((sum, counted) => sum + counted.bytes, 0);
      if (used <= maxBytes) return giveBack;
      await giveBack();
      // There is room once as many bytes as are refused count no longer.
      const waitMs = exceededForMs(hours, { added: -1, maxBytes, now: now(), keptMs }) ?? keptMs;
      throw quotaExceeded(maxBytes / mib, waitMs);
    },
    removeExpired: () => storeCall(() => counts.removeExpired()),
  };
}

/** Stores files of a caller, which `take` counts before each is stored. None is counted if one fails. */
export async function countFiles<Stored>(
  { quota }: { quota: FileQuota },
  caller: Caller,
  store: (take: (bytes: number) => Promise<void>) => Promise<Stored>,
): Promise<Stored> {
  const taken: (() => Promise<void>)[] = [];
  try {
    return await store(async (bytes) => void taken.push(await quota.take(caller, bytes)));
  } catch (error) {
    // If this fails too, the bytes count although they are not stored.
    await Promise.allSettled(taken.map((giveBack) => giveBack()));
    throw error;
  }
}

function quotaExceeded(maxMib: number, waitMs: number): DomainError {
  const detail = `This caller may store ${maxMib} MiB of files within 24 hours.`;
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new DomainError('resource_exhausted', 'storage_quota', detail, { retryAfterSeconds });
}
