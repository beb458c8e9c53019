import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { UsageError } from '../cli/command.ts';

interface FileDigest {
  /** The first 16 hexadecimal digits of the SHA-256 of the file. */
  id: string;
  sizeBytes: number;
}

/** Reads a whole file to identify it by its content. Errors: UsageError if it cannot be read or is not UTF-8. */
export async function digestFile(path: string): Promise<FileDigest> {
  const hash = createHash('sha256');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let sizeBytes = 0;
  const parts: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 1 << 20 });
  try {
    for await (const part of parts) {
      hash.update(part);
      decoder.decode(part, { stream: true });
      sizeBytes += part.length;
    }
    decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`${path} is not UTF-8; convert it first.`);
    throw new UsageError(`Cannot read ${path}: ${error instanceof Error ? error.message : String(error)}.`);
  }
  return { id: hash.digest('hex').slice(0, 16), sizeBytes };
}
