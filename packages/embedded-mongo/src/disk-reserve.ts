import { randomBytes } from 'node:crypto';
import { open, rename, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { readFolderSpace } from './disk-figures.ts';

/** A file that keeps space of the disk for the engine. */
export interface DiskReserve {
  /** Gives the engine as much space as it needs to recover and to start, as far as there is some. */
  prepare(): Promise<void>;
  /** Gives the engine a part of the space if the disk is full, and takes all of it back when there is plenty. */
  check(): Promise<void>;
}

/** The name of the file in the data folder. The engine ignores it. */
export const reserveFile = 'reserve-for-a-full-disk';
const pieceBytes = 1024 * 1024;
const parts = 4;
const pauseMs = 1_000;

/**
 * Opens the reserve of a data folder. The engine ends itself when it cannot write its journal. If something else fills
 * the disk, it goes on, or starts, with this space, until the services refuse writes. The space is given in parts, one
 * a second: a program that fills the disk at once fails in between, and does not get all of them.
 *
 * Units: `bytes` is its size; 0 for none. Tests replace `read` and `now`.
 */
export function diskReserve(
  dataDir: string,
  bytes: number,
  read = readFolderSpace,
  now: () => number = () => performance.now(),
): DiskReserve {
  const path = join(dataDir, reserveFile);
  let givenAt = Number.NEGATIVE_INFINITY;
  const give = async (size: number) => {
    givenAt = now();
    await (size > 0 ? truncate(path, size) : rm(path, { force: true }));
  };
  return {
    async prepare() {
      await rm(`${path}.unfinished`, { force: true });
      if (bytes > 0 && (await read(dataDir)).free < bytes / 2) await give(0);
    },
    async check() {
      if (bytes === 0) return;
      const { free } = await read(dataDir);
      const kept = (await stat(path).catch(() => undefined))?.size ?? 0;
      if (free < bytes / parts / 2 && kept > 0 && now() - givenAt >= pauseMs) await give(kept - bytes / parts);
      else if (free > parts * bytes && kept < bytes) await fill(path, bytes);
    },
  };
}

/** Writes random bytes, because a file system may store zeros without taking space for them. A failure leaves no file. */
async function fill(path: string, bytes: number): Promise<void> {
  const unfinished = `${path}.unfinished`;
  const piece = randomBytes(pieceBytes);
  try {
    const file = await open(unfinished, 'w', 0o600);
    try {
      for (let written = 0; written < bytes; written += pieceBytes) {
        await file.write(piece, 0, Math.min(pieceBytes, bytes - written));
      }
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}
