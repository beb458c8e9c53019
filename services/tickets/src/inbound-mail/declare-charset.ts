import { isUtf8 } from 'node:buffer';

const windows1252 = new TextDecoder('windows-1252');
const startsWithHeader = /^[!-9;-~]+:/;
const emptyLine = /\n\r?\n/g;

/**
 * Declares the texts and headers of a mail that name no charset as windows-1252, of which ISO 8859-1 is a part: old
 * programs send them so, but the parser reads them as UTF-8. Time is linear in the input.
 */
export function declareCharset(raw: Uint8Array): Buffer {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString('latin1');
  const pieces: string[] = [];
  let done = 0;
  for (let start = 0; start !== -1; start = afterNextBoundary(text, done)) {
    emptyLine.lastIndex = start;
    const end = emptyLine.exec(text)?.index ?? text.length;
    pieces.push(text.slice(done, start), declaredBlock(text.slice(start, end), start === 0).toString('latin1'));
    done = end;
  }
  pieces.push(text.slice(done));
  return Buffer.from(pieces.join(''), 'latin1');
}

/** The start of the line after the next one that looks like a boundary; -1 if there is none. */
function afterNextBoundary(text: string, from: number): number {
  const boundary = text.indexOf('\n--', from);
  const next = boundary === -1 ? -1 : text.indexOf('\n', boundary + 1);
  return next === -1 ? -1 : next + 1;
}

/** Returns a block of headers in UTF-8 and with a charset for its text, and any other block as it is. */
function declaredBlock(block: string, isFirst: boolean): Buffer {
  const bytes = Buffer.from(block, 'latin1');
  if (!isFirst && !startsWithHeader.test(block)) return bytes;
  const headers = isUtf8(bytes) ? bytes.toString() : windows1252.decode(bytes);
  return Buffer.from(withCharset(headers, isFirst));
}

function withCharset(headers: string, isFirst: boolean): string {
  const charset = 'charset=windows-1252';
  const type = /^content-type[ \t]*:(?:[^\n]|\n[ \t])*/im.exec(headers)?.[0];
  if (type === undefined) return isFirst ? `${headers}\nContent-Type: text/plain; ${charset}` : headers;
  if (/charset/i.test(type)) return headers;
  return headers.replace(/^(content-type[ \t]*:\s*text\/[\w.+-]+)/im, `$1; ${charset}`);
}
