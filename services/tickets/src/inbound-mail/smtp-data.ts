import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { ByteCollector, CollectorLimitError, collectStream } from '@ticketing/runtime/byte-collector.ts';
import type { HeldBody } from '@ticketing/service-kit/admission/bodies-in-flight.ts';
import type { SMTPStream } from 'smtp-server/lib/smtp-stream.js';

const cr = 0x0d;
const lf = 0x0a;
const dot = 0x2e;

type Position = 'lineStart' | 'bareLineStart' | 'text' | 'cr' | 'dot' | 'bareDot' | 'dotCr';

/**
 * Decodes the data of a mail as SMTP transfers it: a line with only a dot ends the data, and the first of two dots at
 * the start of a line is dropped. After a bare line feed, two dots become one too, but a dot does not end the data.
 *
 * Source: RFC 5321, Transparency.
 */
export class DotUnescaper {
  #position: Position = 'lineStart';

  /** Returns the content of a chunk, and the bytes after the end of the data if the chunk has it. Takes linear time. */
  read(chunk: Buffer): { content: Buffer; rest?: Buffer } {
    // A dot and a carriage return of the previous chunks may turn out to be content.
    const content = Buffer.allocUnsafe(chunk.length + 2);
    let size = 0;
    let position = this.#position;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (position === 'dotCr') {
        if (byte === lf) return { content: content.subarray(0, size), rest: chunk.subarray(at + 1) };
        content[size++] = dot;
        content[size++] = cr;
        position = 'cr';
      } else if (position === 'dot' && byte === cr) {
        position = 'dotCr';
        continue;
      } else if (position === 'dot' || position === 'bareDot') {
        content[size++] = dot;
        position = 'text';
        if (byte === dot) continue;
      }
      if (byte === dot && (position === 'lineStart' || position === 'bareLineStart')) {
        position = position === 'lineStart' ? 'dot' : 'bareDot';
        continue;
      }
      content[size++] = byte;
      position = positionAfter(byte, position);
    }
    this.#position = position;
    return { content: content.subarray(0, size) };
  }
}

function positionAfter(byte: number, position: Position): Position {
  if (byte === cr) return 'cr';
  if (byte !== lf) return 'text';
  return position === 'cr' ? 'lineStart' : 'bareLineStart';
}

const unescapers = new WeakMap<Writable, DotUnescaper>();

/**
 * Passes a chunk of the data of a mail on, in one piece. Replaces the method of smtp-server with this name, which passes on
 * each line that begins with a dot as a piece in a turn of the event loop: 2 MiB of lines that are a dot took 40 s.
 *
 * Source: docs/decisions/0062-a-part-of-smtp-server-is-replaced.md.
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

/**
 * Reads the data of a mail up to its end, also if it is refused. Returns undefined if it has too many bytes.
 *
 * Errors, after the end of the data: invalid_mail, if it arrives in too many pieces; bodies_in_flight. The error of the
 * stream, if the client closes the connection.
 */
export async function readData(
  stream: NodeJS.ReadableStream,
  maxBytes: number,
  held: HeldBody,
): Promise<Buffer | undefined> {
  const collector = new ByteCollector({ maxBytes });
  try {
    return await collectStream(stream, collector, (piece) => {
      held.add(piece.length);
      collector.add(piece);
    });
  } catch (error) {
    collector.clear();
    held.release();
    await finished(stream);
    if (!(error instanceof CollectorLimitError)) throw error;
    if (error.limit === 'bytes') return undefined;
    // The sender would send the same pieces again.
    throw new DomainError('invalid_argument', 'invalid_mail', 'The mail arrives in too many pieces.');
  }
}
