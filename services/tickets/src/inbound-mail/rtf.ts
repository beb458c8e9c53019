import { toBuffer } from '@ticketing/runtime/to-buffer.ts';
import iconv from 'iconv-lite';

/** Windows code pages that iconv-lite knows by their numbers. */
const numbered = [
  [437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 866, 869, 874, 932, 949, 950],
  [1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258],
  [28591, 28592, 28593, 28594, 28595, 28596, 28597, 28598, 28599, 28603, 28605],
].flat();
/** The names of code pages in iconv-lite. */
const encodings = new Map([
  ...numbered.map((codePage) => [codePage, String(codePage)] as const),
  [936, 'gbk'],
  [1200, 'utf16le'],
  [1201, 'utf16be'],
  [10000, 'macintosh'],
  [20866, 'koi8r'],
  [20932, 'eucjp'],
  [21866, 'koi8u'],
  [38598, 'iso88598'],
  [51932, 'eucjp'],
  [51949, 'euckr'],
  [54936, 'gb18030'],
  [65001, 'utf8'],
]);

/** The code pages of ISO-2022-JP, which iconv-lite does not know. */
const japaneseMail = [50220, 50221, 50222];

/** Decodes a text in a Windows code page. An unknown one is read as windows-1252. */
export function decodeCodePage(bytes: Uint8Array, codePage: number): string {
  if (japaneseMail.includes(codePage)) return new TextDecoder('iso-2022-jp').decode(bytes);
  return iconv.decode(toBuffer(bytes), encodings.get(codePage) ?? 'windows1252');
}

const headerBytes = 16;
const dictionary = Buffer.from(
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor ' +
    'MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par ' +
    '\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx',
  'latin1',
);
/** 17 bytes, which are flags and eight references of two bytes, stand for at most 8 * 17 bytes. */
const maxExpansion = 8;

/**
 * Decompresses RTF as Outlook stores it, up to where it is damaged. Ignores the checksum. Returns undefined for other bytes.
 *
 * Shape: at most `maxBytes`.
 * Source: https://learn.microsoft.com/openspecs/exchange_server_protocols/ms-oxrtfcp/4238b0e2-7147-42da-88c9-ea45a1243e67.
 */
export function decompressRtf(bytes: Uint8Array, maxBytes: number): Uint8Array | undefined {
  if (bytes.length < headerBytes) return undefined;
  const source = toBuffer(bytes);
  const content = source.subarray(headerBytes);
  const size = Math.min(source.readUInt32LE(4), maxBytes);
  const type = source.toString('latin1', 8, 12);
  if (type === 'MELA') return content.subarray(0, size);
  return type === 'LZFu' ? decompress(content, Math.min(size, content.length * maxExpansion)) : undefined;
}

/** The output follows the initial dictionary, so that references need no ring buffer: they reach back 4095 bytes. */
function decompress(source: Buffer, maxSize: number): Buffer {
  const start = dictionary.length;
  const output = Buffer.alloc(start + maxSize);
  dictionary.copy(output);
  let size = start;
  for (let at = 0, flags = 1; at < source.length && size < output.length; flags >>= 1) {
    if (flags === 1) flags = 0x100 | (source[at++] ?? 0);
    if ((flags & 1) === 0) {
      if (at < source.length) output[size++] = source[at++] ?? 0;
      continue;
    }
    const reference = ((source[at] ?? 0) << 8) | (source[at + 1] ?? 0);
    at += 2;
    const distance = (size - (reference >> 4)) & 0xfff;
    // A reference to the current position ends the data.
    if (at > source.length || distance === 0 || distance > size) break;
    const end = Math.min(output.length, size + (reference & 0xf) + 2);
    for (; size < end; size++) output[size] = output[size - distance] ?? 0;
  }
  return output.subarray(start, size);
}

/** The text of an RTF document, or the HTML that it encapsulates. */
export interface RtfContent {
  text: string;
  isHtml: boolean;
}

/**
 * Reads the text of an RTF document, or the HTML that it encapsulates, with line feeds. Returns undefined for other
 * bytes. Ends where the document is damaged, or has more than 10,000 groups within each other. Takes linear time, and a
 * small multiple of the input in memory.
 *
 * Shape: at most `maxChars` UTF-16 units.
 * Source: https://learn.microsoft.com/openspecs/exchange_server_protocols/ms-oxrtfex/906fbb0f-2467-490e-8c3e-bdc31c5e9d35.
 */
export function readRtf(rtf: Uint8Array, maxChars: number): RtfContent | undefined {
  const source = toBuffer(rtf);
  return source.toString('latin1', 0, 5) === '{\\rtf' ? new RtfReader(source, maxChars).read() : undefined;
}

const maxDepth = 10_000;
const maxWordChars = 32;
const ansi = 1252;

/** The code pages of the values of `\fcharset`. The values 1 (default) and 2 (symbols) have none. */
const charsets = new Map([
  [0, ansi],
  [77, 10000],
  [128, 932],
  [129, 949],
  [134, 936],
  [136, 950],
  [161, 1253],
  [162, 1254],
  [163, 1258],
  [177, 1255],
  [178, 1256],
  [186, 1257],
  [204, 1251],
  [222, 874],
  [238, 1250],
  [254, 437],
  [255, 850],
]);

const lineFeed = '\n';
const characters = new Map([
  ['par', lineFeed],
  ['line', lineFeed],
  ['\r', lineFeed],
  ['\n', lineFeed],
  ['tab', '\t'],
  ['\t', '\t'],
  ['lquote', '\u2018'],
  ['rquote', '\u2019'],
  ['ldblquote', '\u201c'],
  ['rdblquote', '\u201d'],
  ['bullet', '\u2022'],
  ['endash', '\u2013'],
  ['emdash', '\u2014'],
  ['~', '\u00a0'],
]);
/** In encapsulated HTML, tags stand for the first five, and `\_` for a soft hyphen. */
const textCharacters = new Map([
  ['sect', lineFeed],
  ['page', lineFeed],
  ['row', lineFeed],
  ['cell', '\t'],
  ['nestcell', '\t'],
  ['emspace', ' '],
  ['enspace', ' '],
  ['_', '\u2011'],
]);
const htmlCharacters = new Map([['_', '\u00ad']]);

/** Groups without text of the document, though no `\*` says so. */
const skippedGroups = new Set(
  [
    'fonttbl colortbl stylesheet filetbl info upr pict nonshppict objdata fldinst template xe tc rxe txe',
    'header headerl headerr headerf footer footerl footerr footerf',
  ].flatMap((words) => words.split(' ')),
);
/** Groups with the numbers of list items, which HTML has as tags. */
const listTexts = new Set(['pntext', 'listtext']);

/** The state that ends with a group. */
interface Group {
  isSkipped: boolean;
  isFontTable: boolean;
  isHtmlTag: boolean;
  /** Whether the text only imitates HTML that stands in tags. */
  isImitation: boolean;
  /** How many characters after `\u` stand for it in programs that know no Unicode. */
  fallbackChars: number;
  /** The code page of the font; undefined for the default font. */
  codePage: number | undefined;
}

/** Whether a group has only begun, so that the next word names it. Unknown groups are skipped if they are optional. */
type Start = 'none' | 'group' | 'optional';

const backslash = 0x5c;
const open = 0x7b;
const close = 0x7d;
const space = 0x20;
const minus = 0x2d;
const star = 0x2a;
const quote = 0x27;
/** Bytes that are no text: the syntax, and the line breaks and NULs of the file. */
const isSyntax = new Uint8Array(256);
for (const byte of [backslash, open, close, 0, 0x0a, 0x0d]) isSyntax[byte] = 1;

class RtfReader {
  readonly #source: Buffer;
  #at = 0;
  readonly #outer: Group[] = [];
  #group: Group = {
    isSkipped: false,
    isFontTable: false,
    isHtmlTag: false,
    isImitation: false,
    fallbackChars: 1,
    codePage: undefined,
  };
  #start: Start = 'none';
  #fallback = 0;
  #isHtml = false;
  #codePage = ansi;
  readonly #fonts = new Map<number, number>();
  #defaultFont = 0;
  #tableFont = 0;
  /** UTF-16; a byte of the source becomes at most one unit. */
  readonly #output: Buffer;
  #size = 0;
  /** Bytes that are not decoded yet, because a character can be two of them. */
  readonly #run: Buffer;
  #runSize = 0;
  #runCodePage = ansi;
  #runBits = 0;

  constructor(source: Buffer, maxChars: number) {
    this.#source = source;
    this.#output = Buffer.alloc(2 * Math.min(source.length, maxChars));
    this.#run = Buffer.alloc(source.length);
  }

  read(): RtfContent {
    const source = this.#source;
    while (this.#at < source.length && this.#size + 2 * this.#runSize < this.#output.length) {
      const byte = source[this.#at];
      if (byte === backslash) this.#readControl();
      else if (byte === open) {
        if (this.#outer.length === maxDepth) break;
        this.#outer.push(this.#group);
        this.#at += 1;
        this.#fallback = 0;
        this.#start = 'group';
      } else if (byte === close) {
        const outer = this.#outer.pop();
        if (!outer || this.#outer.length === 0) break;
        this.#group = outer;
        this.#at += 1;
        this.#fallback = 0;
        this.#start = 'none';
      } else if (isSyntax[byte ?? 0]) this.#at += 1;
      else this.#readText();
    }
    this.#endRun();
    const text = this.#output.toString('utf16le', 0, this.#size).toWellFormed();
    return { text, isHtml: this.#isHtml };
  }

  #readText(): void {
    const source = this.#source;
    let end = this.#at;
    while (end < source.length && !isSyntax[source[end] ?? 0]) end += 1;
    const skipped = Math.min(this.#fallback, end - this.#at);
    this.#fallback -= skipped;
    this.#addBytes(this.#at + skipped, end);
    this.#at = end;
    this.#start = 'none';
  }

  #readControl(): void {
    const start = this.#start;
    this.#start = 'none';
    const begin = this.#at + 1;
    let end = begin;
    while (isLetter(this.#source[end])) end += 1;
    if (end === begin) this.#readSymbol(start);
    else {
      const word = end - begin > maxWordChars ? '' : this.#source.toString('latin1', begin, end);
      this.#applyWord(word, this.#readParameter(end), start);
    }
  }

  /** Reads the number after a control word, and the space after that. */
  #readParameter(begin: number): number | undefined {
    const source = this.#source;
    const isNegative = source[begin] === minus && isDigit(source[begin + 1]);
    let at = isNegative ? begin + 1 : begin;
    let value: number | undefined;
    for (; isDigit(source[at]); at++) value = Math.min((value ?? 0) * 10 + (source[at] ?? 0) - 0x30, 2 ** 31);
    this.#at = source[at] === space ? at + 1 : at;
    return value !== undefined && isNegative ? -value : value;
  }

  #readSymbol(start: Start): void {
    const byte = this.#source[this.#at + 1] ?? 0;
    this.#at += 2;
    if (byte === star && start === 'group') this.#start = 'optional';
    else if (byte === quote) {
      const value = hexDigit(this.#source[this.#at]) * 16 + hexDigit(this.#source[this.#at + 1]);
      if (Number.isNaN(value)) return;
      this.#at += 2;
      if (!this.#useFallback()) this.#addByte(value);
    } else if (this.#useFallback()) return;
    else if (byte === backslash || byte === open || byte === close) this.#addByte(byte);
    else this.#addCharacter(String.fromCharCode(byte));
  }

  #applyWord(word: string, parameter: number | undefined, start: Start): void {
    if (word === 'u') {
      this.#addUnicode(parameter ?? 0);
      return;
    }
    if (word === 'bin') this.#at += Math.max(0, parameter ?? 0);
    if (this.#useFallback()) return;
    if (start !== 'none') this.#startGroup(word, start);
    if (word === 'f') this.#selectFont(parameter ?? 0);
    else if (word === 'plain') this.#group = { ...this.#group, codePage: undefined };
    else if (word === 'uc') this.#group = { ...this.#group, fallbackChars: Math.max(0, parameter ?? 1) };
    else if (word === 'htmlrtf') this.#group = { ...this.#group, isImitation: this.#isHtml && parameter !== 0 };
    else if (word === 'fcharset') this.#setFont(charsets.get(parameter ?? 0));
    else if (word === 'cpg') this.#setFont(parameter);
    else if (word === 'ansicpg') this.#codePage = parameter ?? ansi;
    else if (word === 'deff') this.#defaultFont = parameter ?? 0;
    else if (word === 'fromhtml') this.#isHtml = parameter !== 0 && this.#outer.length === 1 && this.#isEmpty();
    else this.#addCharacter(word);
  }

  #startGroup(word: string, start: Start): void {
    const isHtmlTag = this.#isHtml && word === 'htmltag';
    const isListText = this.#isHtml && listTexts.has(word);
    if (isHtmlTag) this.#group = { ...this.#group, isHtmlTag };
    else if (start === 'optional' || skippedGroups.has(word) || isListText) {
      this.#group = { ...this.#group, isSkipped: true, isFontTable: word === 'fonttbl' };
    }
  }

  #selectFont(font: number): void {
    if (this.#group.isFontTable) this.#tableFont = font;
    else this.#group = { ...this.#group, codePage: this.#fonts.get(font) ?? this.#codePage };
  }

  #setFont(codePage: number | undefined): void {
    if (this.#group.isFontTable && codePage !== undefined) this.#fonts.set(this.#tableFont, codePage);
  }

  #addUnicode(value: number): void {
    this.#fallback = this.#group.fallbackChars;
    this.#addUnit(value & 0xffff);
  }

  /** Counts what stands for a Unicode character in programs that know none. */
  #useFallback(): boolean {
    if (this.#fallback === 0) return false;
    this.#fallback -= 1;
    return true;
  }

  #addCharacter(word: string): void {
    const character = characters.get(word) ?? (this.#isHtml ? htmlCharacters : textCharacters).get(word);
    if (character !== undefined) this.#addUnit(character.charCodeAt(0));
  }

  #addUnit(unit: number): void {
    if (this.#isDropped()) return;
    this.#endRun();
    this.#write(unit);
  }

  #addByte(byte: number): void {
    if (this.#isDropped()) return;
    this.#useCodePage();
    this.#run[this.#runSize++] = byte;
    this.#runBits |= byte;
  }

  /** Adds bytes of the source as they are. */
  #addBytes(begin: number, end: number): void {
    if (this.#isDropped()) return;
    this.#useCodePage();
    for (let at = begin; at < end; at++) {
      const byte = this.#source[at] ?? 0;
      this.#run[this.#runSize++] = byte;
      this.#runBits |= byte;
    }
  }

  #isDropped(): boolean {
    return this.#group.isSkipped || this.#group.isImitation;
  }

  #isEmpty(): boolean {
    return this.#size === 0 && this.#runSize === 0;
  }

  /** Begins another run if the code page has changed. */
  #useCodePage(): void {
    const { isHtmlTag, codePage = this.#fonts.get(this.#defaultFont) } = this.#group;
    const current = isHtmlTag || codePage === undefined ? this.#codePage : codePage;
    if (current !== this.#runCodePage) this.#endRun();
    this.#runCodePage = current;
  }

  /** Decodes the run of bytes. ASCII is the same in all code pages of RTF. */
  #endRun(): void {
    const run = this.#run.subarray(0, this.#runSize);
    if (this.#runBits < 0x80) for (const byte of run) this.#write(byte);
    else {
      const text = decodeCodePage(run, this.#runCodePage);
      for (let index = 0; index < text.length; index++) this.#write(text.charCodeAt(index));
    }
    this.#runSize = 0;
    this.#runBits = 0;
  }

  #write(unit: number): void {
    if (this.#size === this.#output.length) return;
    this.#output[this.#size++] = unit & 0xff;
    this.#output[this.#size++] = unit >> 8;
  }
}

function isLetter(byte = 0): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a);
}

function isDigit(byte = 0): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function hexDigit(byte = 0): number {
  if (isDigit(byte)) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}
