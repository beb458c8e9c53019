import { statfs } from 'node:fs/promises';
import type { RunMessage } from './wire-connection.ts';

const dbStats = Buffer.from('\x10dbStats\0');
/** After the header, the flags, the kind of the section and the length of its document. */
const commandAt = 25;

/**
 * Completes the replies to `dbStats`: a server says there how large its disk is and how much of it is used, and this
 * build of the engine says 0, because it does not know in which folder it runs.
 */
export function withDiskFigures(run: RunMessage, dataDir: string): RunMessage {
  return async (message) => {
    const trip = await run(message);
    const isDbStats = message.subarray(commandAt, commandAt + dbStats.length).equals(dbStats);
    if (isDbStats) writeFigures(trip.response, await readFolderSpace(dataDir));
    return trip;
  };
}

/** Returns the size of the disk of a folder, and how much of it its user can still write. Units: bytes. */
export async function readFolderSpace(folder: string): Promise<{ total: number; free: number }> {
  const { bsize, blocks, bavail } = await statfs(folder);
  return { total: blocks * bsize, free: bavail * bsize };
}

function writeFigures(reply: Buffer, { total, free }: { total: number; free: number }): void {
  for (const [name, value] of Object.entries({ fsTotalSize: total, fsUsedSize: total - free })) {
    const key = Buffer.from(`\x01${name}\0`, 'latin1');
    const at = reply.lastIndexOf(key);
    if (at >= 0) reply.writeDoubleLE(value, at + key.length);
  }
}
