import { Libmime } from 'libmime';
import { decodeText } from './charsets.ts';

/** A header: its name in lower case, and its value as one line, in which encoded words are not decoded yet. */
export interface MailHeader {
  key: string;
  value: string;
}

/** Reads the line of a header, whose bytes are the signs of `line`. */
export function decodeHeader(line: string): MailHeader {
  const text = toText(line.replace(/\r?\n(?=[ \t])/g, '').replace(/[\r\n]+/g, ' '));
  const colon = text.indexOf(':');
  if (colon === -1) return { key: text.trim().toLowerCase(), value: '' };
  return { key: text.slice(0, colon).trim().toLowerCase(), value: text.slice(colon + 1).trim() };
}

/** The text of bytes that should be ASCII. */
function toText(bytes: string): string {
  return /^[\x20-\x7e\t]*$/.test(bytes) ? bytes : decodeText(Buffer.from(bytes, 'latin1'));
}

/**
 * Decodes the encoded words of a text (RFC 2047). The bytes of neighbours in the same encoding are joined before they are
 * decoded, since some programs cut words within a sign, or leave out the padding. Time is linear in the input.
 */
export function decodeWords(text: string): string {
  const pieces: string[] = [];
  let word: { charset: string; bytes: string } | undefined;
  let end = 0;
  const endWord = () => {
    if (word) pieces.push(decodeText(Buffer.from(word.bytes, 'latin1'), word.charset));
    word = undefined;
  };
  for (const match of text.matchAll(/=\?([\w.:+'-]{1,60})(?:\*[\w-]{1,20})?\?([bq])\?([^?]*)\?=/gi)) {
    const [whole, charset = '', encoding = '', encoded = ''] = match;
    const between = text.slice(end, match.index);
    const follows = word !== undefined && between.trim() === '';
    if (!follows || word?.charset !== charset.toLowerCase()) endWord();
    if (!follows) pieces.push(between);
    word ??= { charset: charset.toLowerCase(), bytes: '' };
    word.bytes += decodeWord(encoding, encoded);
    end = match.index + whole.length;
  }
  endWord();
  return pieces.join('') + text.slice(end);
}

/** The bytes of an encoded word, each as a sign. */
function decodeWord(encoding: string, encoded: string): string {
  if (encoding.toLowerCase() === 'b') return Buffer.from(encoded, 'base64').toString('latin1');
  return encoded.replaceAll('_', ' ').replace(/=([\da-f]{2})/gi, (_, hex: string) => {
    return String.fromCharCode(Number.parseInt(hex, 16));
  });
}

/** Reads parameters of headers, with the encodings that we know. */
class ParameterReader extends Libmime {
  override decodeWords(text: unknown): string {
    return decodeWords(String(text ?? ''));
  }

  override decodeWord(charset: string, encoding: string, text: string): string {
    return decodeText(Buffer.from(decodeWord(encoding, text), 'latin1'), charset);
  }
}

const reader = new ParameterReader();

/** Reads a header with parameters, such as `Content-Type` (RFC 2045, RFC 2231). */
export function readParameters(text: string): { value: string; parameters: Record<string, string> } {
  const { value, params, decodedParams } = reader.parseHeaderValue(text, { stripComments: true });
  const decoded = new Set(decodedParams);
  const parameters = Object.entries(params).map(([name, one]) => [name, decoded.has(name) ? one : decodeWords(one)]);
  return { value, parameters: Object.fromEntries(parameters) };
}
