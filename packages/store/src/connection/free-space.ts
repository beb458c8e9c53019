import { storageFull } from '../document/store-error.ts';
import type { Database } from './database.ts';

/** The disk of a database. Units: bytes. */
export interface Disk {
  total: number;
  free: number;
}

/** How much space a database has, as its server last said it. */
export interface FreeSpace {
  /** Undefined before the server has said it, and if it never does. */
  disk(): Disk | undefined;
  /** Returns the free space that is kept; undefined as for `disk`. Units: bytes. */
  reserve(): number | undefined;
  /** Whether less than the reserve is free. */
  isFull(): boolean;
  close(): void;
}

/** Reads the disk of a database; undefined if the server does not say it. Errors: it cannot be reached. */
export type ReadDisk = () => Promise<Disk | undefined>;

const gib = 1024 ** 3;
/** The bytes that all services together may write in a second, so that a disk is read again before it can be full. */
const bytesPerMs = (64 * 1024 ** 2) / 1000;
const waitMs = { min: 500, max: 15_000 };

/**
 * Watches the free space of a database: the nearer the reserve, the more often. A failed read changes nothing.
 *
 * Units: `reserveBytes` undefined for the default, which is 1 GiB, or 5 % of a disk of less than 20 GiB; 0 for none.
 * Source: docs/decisions/0063-writes-stop-before-the-disk-is-full.md.
 */
export function watchFreeSpace(read: ReadDisk, reserveBytes: number | undefined): FreeSpace {
  let disk: Disk | undefined;
  const reserve = () => disk && (reserveBytes ?? Math.min(gib, disk.total / 20));
  const spare = () => (disk === undefined ? 0 : disk.free - (reserve() ?? 0));
  const readOnce = async () => {
    try {
      disk = await read();
      return disk ? Math.min(waitMs.max, Math.max(waitMs.min, spare() / bytesPerMs)) : waitMs.max;
    } catch {
      return waitMs.min;
    }
  };
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const follow = async () => {
    const pauseMs = await readOnce();
    if (!isClosed) timer = setTimeout(() => void follow(), pauseMs).unref();
  };
  void follow();
  const close = () => {
    isClosed = true;
    clearTimeout(timer);
  };
  return { disk: () => disk, reserve, isFull: () => spare() < 0, close };
}

/** Refuses a write while less than the reserve is free, before anything is changed. Errors: storage_full. */
export function requireSpace(space: Pick<FreeSpace, 'isFull'>): void {
  if (space.isFull()) throw storageFull({ followsChange: false });
}

interface DatabaseStats {
  fsTotalSize?: number;
  fsUsedSize?: number;
  /** The disks of each shard, in a sharded cluster. */
  raw?: Record<string, DatabaseStats>;
}

/** Reads the disk of a database from its server; of the shards of a cluster, the disk with the least free space. */
export async function readDisk({ connection }: Pick<Database, 'connection'>): Promise<Disk | undefined> {
  if (!connection.db) throw new Error('the database has not been reached');
  const stats = (await connection.db.command({ dbStats: 1, freeStorage: 0 })) as DatabaseStats;
  const disks = Object.values(stats.raw ?? { all: stats }).flatMap(
    ({ fsTotalSize: total = 0, fsUsedSize: used = 0 }) => (total > 0 ? { total, free: total - used } : []),
  );
  return disks.sort((left, right) => left.free - right.free)[0];
}
