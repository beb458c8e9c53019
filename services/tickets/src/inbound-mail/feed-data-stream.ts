import type { Writable } from 'node:stream';
import type { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { DotUnescaper } from './smtp-data.ts';

const unescapers = new WeakMap<Writable, DotUnescaper>();

/**
 * Passes a chunk of the data of a mail on, in one piece. Replaces the method of smtp-server with this name, which passes on
 * each line that begins with a dot as a piece in a turn of the event loop: 2 MiB of lines that are a dot took 40 s.
 *
 * Source: docs/decisions/0062-parts-of-mail-libraries-are-replaced.md.
 */
export function feedDataStream(this: SMTPStream, chunk: Buffer, done: (error?: Error | null) => void): void {
  const stream = this._dataStream;
  const unescaper = (stream && unescapers.get(stream)) ?? new DotUnescaper();
  if (stream) unescapers.set(stream, unescaper);
  const { content, rest } = unescaper.read(chunk);
  this._countDataBytes(content.length);
  if (rest) this._endDataMode(content, rest, done);
  else if (!stream?.writable || content.length === 0 || stream.write(content) || stream.destroyed) done();
  else {
    // A stream that is destroyed only closes.
    const goOn = () => {
      stream.off('drain', goOn).off('close', goOn);
      done();
    };
    stream.on('drain', goOn).on('close', goOn);
  }
}
