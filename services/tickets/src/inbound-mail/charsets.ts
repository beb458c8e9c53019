import { isUtf8 } from 'node:buffer';
import { toBuffer } from '@ticketing/runtime/to-buffer.ts';
import { analyse } from 'chardet';
import iconv from 'iconv-lite';

/** Encodings that the decoder of the platform reads better than iconv-lite, or that iconv-lite does not read. */
const platformDecoders = new Map(
  ['windows-1252', 'iso-2022-jp', 'shift_jis', 'gb18030'].map((name) => [name, new TextDecoder(name)]),
);

/** Other names of encodings: what programs write, and what these mean by it (as browsers do). */
const aliases = new Map(
  Object.entries({
    'windows-1252': ['iso88591', 'latin1', 'l1', 'cp1252', 'ansi'],
    'iso-2022-jp': [
      'iso2022jp',
      'iso2022jp1',
      'iso2022jp2',
      'iso2022jpms',
      'jis',
      'junet',
      'cp50220',
      'cp50221',
      'cp50222',
    ],
    shift_jis: ['shiftjis', 'sjis', 'mskanji', 'windows31j', 'cp932', 'ms932', 'windows932'],
    gb18030: ['gbk', 'gb2312', 'gb231280', 'cp936', 'ms936', 'windows936', 'chinese'],
    'euc-kr': ['ksc56011987', 'ksc5601', 'ksc56011989', 'korean', 'uhc', 'cp949', 'windows949', 'ms949'],
    'utf-8': ['utf8', 'unicode11utf8', 'utf8mb4'],
    'utf-7': ['utf7', 'unicode11utf7', 'csunicode11utf7', 'unicode20utf7'],
    'utf-16': ['utf16', 'unicode', 'ucs2', 'iso10646ucs2'],
    'utf-16be': ['utf16be', 'unicodefffe'],
    'utf-16le': ['utf16le', 'unicodefeff'],
  }).flatMap(([name, others]) => others.map((other) => [other, name] as const)),
);

/** Names that say nothing about bytes beyond ASCII. */
const emptyNames = ['', 'usascii', 'ascii', 'ansix341968', '8bit', '7bit', 'binary', 'unknown8bit', 'default'];

/** The encoding that a declared name means; undefined if nobody knows it, or it says nothing. */
function findEncoding(declared: string): string | undefined {
  const plain = declared
    .trim()
    .toLowerCase()
    .replace(/^(?:x-|cs)/, '')
    .replaceAll('"', '');
  const letters = plain.replace(/[^a-z0-9]/g, '');
  if (emptyNames.includes(letters)) return undefined;
  const name = aliases.get(letters) ?? plain;
  return platformDecoders.has(name) || isOfIconv(name) ? name : undefined;
}

/** Encodings of iconv-lite that are none of texts. */
const transferEncodings = ['base64', 'hex', 'binary', 'internal'];

function isOfIconv(name: string): boolean {
  return !transferEncodings.includes(name) && iconv.encodingExists(name);
}

function decodeAs(encoding: string, bytes: Uint8Array): string {
  const decoder = platformDecoders.get(encoding);
  return decoder ? decoder.decode(bytes) : iconv.decode(toBuffer(bytes), encoding);
}

/** Single-byte encodings in which bytes that are valid UTF-8 would be signs that nobody writes, such as "Ã¶". */
const westernEncodings = ['windows-1252', 'iso-8859-15'];
const multiByteEncodings = ['iso-2022-jp', 'shift_jis', 'gb18030', 'euc-kr', 'euc-jp', 'big5', 'utf-8'];

/**
 * Decodes a text whose sender declares its encoding by names, in the order of their weight: unknown ones, or wrong ones, as
 * often as right ones. A text that is of no declared encoding is read as UTF-8 if it can be, else as what its bytes look
 * like. Never fails; bytes that no encoding has are U+FFFD.
 *
 * Source: docs/reference/api.md, Incoming mail.
 */
export function decodeText(bytes: Uint8Array, ...declarations: readonly (string | undefined)[]): string {
  const marked = byteOrderMark(bytes);
  if (marked) return decodeAs(marked.encoding, bytes.subarray(marked.length));
  for (const declared of declarations) {
    const encoding = declared === undefined ? undefined : findEncoding(declared);
    if (encoding === undefined) continue;
    // A text of ASCII has no sign of its encoding, unless it shifts.
    if (westernEncodings.includes(encoding) && (isUtf8(bytes) || shiftsToJapanese(bytes))) break;
    if (isUtf8(bytes) && (encoding === 'utf-8' || isLong(bytes))) break;
    if (!multiByteEncodings.includes(encoding)) return decodeAs(encoding, bytes);
    const text = decodeAs(encoding, bytes);
    if (!isBroken(text)) return text;
  }
  return decodeAs(detectEncoding(bytes), bytes);
}

/** Whether a text of valid UTF-8 has too many bytes beyond ASCII to be it by chance. */
function isLong(bytes: Uint8Array): boolean {
  return bytes.subarray(0, sampleBytes).filter((byte) => byte >= 0x80).length >= 12;
}

/** Whether a text was decoded wrongly: more than a tenth of its signs beyond ASCII, except for one that is cut at its end. */
function isBroken(text: string): boolean {
  const unreadable = text.slice(0, -2).split('\ufffd').length - 1;
  return unreadable > 0 && unreadable > text.replace(/[\0-\x7f\ufffd]+/g, '').length / 10;
}

function byteOrderMark([first, second, third]: Uint8Array): { encoding: string; length: number } | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return { encoding: 'utf-8', length: 3 };
  if (first === 0xff && second === 0xfe) return { encoding: 'utf-16le', length: 2 };
  if (first === 0xfe && second === 0xff) return { encoding: 'utf-16be', length: 2 };
  return undefined;
}

const sampleBytes = 64 * 1024;

/** The encoding of a text that declares none, or a wrong one. */
function detectEncoding(bytes: Uint8Array): string {
  if (shiftsToJapanese(bytes)) return 'iso-2022-jp';
  const wide = detectWide(bytes);
  if (wide !== undefined) return wide;
  if (isUtf8(bytes)) return 'utf-8';
  return detectOtherScript(bytes.subarray(0, sampleBytes)) ?? 'windows-1252';
}

/** Whether a text of seven bits has the escape sequences by which ISO-2022-JP shifts to its characters (RFC 1468). */
function shiftsToJapanese(bytes: Uint8Array): boolean {
  const text = toBuffer(bytes.subarray(0, sampleBytes));
  return (text.includes('\x1b$B') || text.includes('\x1b$@')) && !text.some((byte) => byte >= 0x80);
}

/** UTF-16 without a mark: in most of its signs one byte is null, always the first or always the second. */
function detectWide(bytes: Uint8Array): string | undefined {
  const sample = bytes.subarray(0, 1_000);
  const [first = 0, second = 0] = [0, 1].map(
    (parity) => sample.filter((byte, at) => byte === 0 && at % 2 === parity).length / (sample.length / 2),
  );
  if (sample.length < 8 || Math.max(first, second) < 0.5 || Math.min(first, second) > 0.1) return undefined;
  return first > second ? 'utf-16be' : 'utf-16le';
}

/** The encodings of other scripts than Latin, each with a sign of texts in it. */
const otherScripts = new Map([
  ['Shift_JIS', /[\u3041-\u30fe]/],
  ['EUC-JP', /[\u3041-\u30fe]/],
  // Chinese text that is read as Korean has Chinese signs as well.
  ['EUC-KR', /^(?!(?:.*[\u4e00-\u9fff]){2}).*[\uac00-\ud7a3]/s],
  ['Big5', /[\u4e00-\u9fff]/],
  ['GB18030', /[\u4e00-\u9fff]/],
  ['windows-1251', /[\u0430-\u044f]/],
  ['KOI8-R', /[\u0430-\u044f]/],
  ['ISO-8859-5', /[\u0430-\u044f]/],
  ['windows-1253', /[\u03b1-\u03c9]/],
  ['ISO-8859-7', /[\u03b1-\u03c9]/],
  ['windows-1255', /[\u05d0-\u05ea]/],
  ['windows-1256', /[\u0627-\u064a]/],
]);
const leastConfidence = 25;

/** The encoding of a text in another script than Latin: where a third of its bytes are no ASCII. */
function detectOtherScript(sample: Uint8Array): string | undefined {
  const signs = sample.filter((byte) => byte > 0x20);
  if (signs.filter((byte) => byte >= 0x80).length < signs.length / 3) return undefined;
  const candidates = analyse(sample).filter(({ confidence }) => confidence >= leastConfidence);
  for (const { name } of candidates) {
    const script = otherScripts.get(name);
    const encoding = script && findEncoding(name);
    if (encoding === undefined) continue;
    const text = decodeAs(encoding, sample);
    if (!isBroken(text) && script?.test(text)) return encoding;
  }
  return undefined;
}

const htmlHeadBytes = 4 * 1024;

/** The encoding that an HTML text declares itself. */
export function declaredInHtml(bytes: Uint8Array): string | undefined {
  const head = toBuffer(bytes.subarray(0, htmlHeadBytes)).toString('latin1');
  return /<(?:meta\b[^>]{0,200}?\bcharset|\?xml\b[^>]{0,200}?\bencoding)\s{0,5}=\s{0,5}["']?\s{0,5}([\w:.-]{1,40})/i.exec(
    head,
  )?.[1];
}
