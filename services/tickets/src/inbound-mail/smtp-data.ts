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
