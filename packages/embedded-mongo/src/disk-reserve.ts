import { randomBytes } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readDisk } from './disk-figures.ts';

/** A file that keeps space of the disk for the engine. */
export interface DiskReserve {
  /** Gives the space to the engine if the disk is nearly full, and takes it back when there is plenty. */
  check(): Promise<void>;
}

/** The name of the file in the data folder. The engine ignores it. */
export const reserveFile = 'reserve-for-a-full-disk';
const pieceBytes = 1024 * 1024;

/**
 * Opens the reserve of a data folder. The engine ends itself when it cannot write its journal. If something else fills the
 * disk, it goes on, or starts, with this space, until the services refuse writes.
 *
 * Units: `bytes` is its size; 0 for none. Tests replace `read`.
 */
export function diskReserve(dataDir: string, bytes: number, read = readDisk): DiskReserve {
  const path = join(dataDir, reserveFile);
  return {
    async check() {
      if (bytes === 0) return;
      const { free } = await read(dataDir);
      if (free < bytes / 2) await rm(path, { force: true });
      else if (free > 4 * bytes && !(await isPresent(path))) await fill(path, bytes);
    },
  };
}

async function isPresent(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Writes random bytes, because a file system may store zeros without taking space for them. */
async function fill(path: string, bytes: number): Promise<void> {
  const unfinished = `${path}.unfinished`;
  const piece = randomBytes(pieceBytes);
  const file = await open(unfinished, 'w', 0o600);
  try {
    for (let written = 0; written < bytes; written += pieceBytes) {
      await file.write(piece, 0, Math.min(pieceBytes, bytes - written));
    }
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}
