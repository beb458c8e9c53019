import { withinLinearTime } from '@ticketing/testkit/machine-limits.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { decodeCodePage, decompressRtf, readRtf } from './rtf.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const noLimit = 2 ** 32;

const dictionary = latin1(
  String.raw`{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0` +
    '\r\n' +
    String.raw`\par \pard\plain\f0\fs20\b\i\u\tab\tx`,
);

function header(type: 'LZFu' | 'MELA', contentBytes: number, size: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32LE(contentBytes + 12, 0);
  bytes.writeUInt32LE(size, 4);
  bytes.write(type, 8, 'latin1');
  return bytes;
}

/** Compresses as [MS-OXRTFCP] says, with its ring buffer: slow, but another way than that of the module. */
function compressRtf(text: Buffer): Buffer {
  const ring = Buffer.alloc(4096);
  dictionary.copy(ring);
  let write = dictionary.length;
  const tokens: number[][] = [];
  for (let at = 0; at < text.length; ) {
    let best = { length: 0, offset: 0 };
    for (let back = 1; back <= Math.min(4095, dictionary.length + at); back++) {
      const offset = (write - back) & 4095;
      let length = 0;
      while (length < 17 && at + length < text.length) {
        const from = length < back ? ring[(offset + length) & 4095] : text[at + length - back];
        if (from !== text[at + length]) break;
        length += 1;
      }
      if (length > best.length) best = { length, offset };
    }
    const count = best.length < 2 ? 1 : best.length;
    const reference = (best.offset << 4) | (count - 2);
    tokens.push(count === 1 ? [text[at] ?? 0] : [reference >> 8, reference & 0xff]);
    for (let end = at + count; at < end; at++, write = (write + 1) & 4095) ring[write] = text[at] ?? 0;
  }
  tokens.push([write >> 4, (write & 0xf) << 4]);
  const content = tokens.flatMap((token, index) => {
    if (index % 8 !== 0) return token;
    const flags = tokens.slice(index, index + 8).reduce((sum, { length }, bit) => sum + ((length - 1) << bit), 0);
    return [flags, ...token];
  });
  return Buffer.concat([header('LZFu', content.length, text.length), Buffer.from(content)]);
}

describe('decompressRtf', () => {
  // The examples of [MS-OXRTFCP].
  test.each([
    [
      '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0',
      '{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n',
    ],
    ['1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0', '{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}'],
  ])('reads %s', (hex, text) => {
    expect(decompressRtf(Buffer.from(hex, 'hex'), noLimit)).toEqual(latin1(text));
  });

  it('reads what the ring buffer of the specification has written, also longer than it', () => {
    const words = [...seededBytes(1500)].map((byte) => `\\w${byte % 50}${byte % 7 === 0 ? ' some text' : ''}`);
    for (const text of ['', 'a', 'a'.repeat(9000), words.join(''), seededBytes(9000).toString('latin1')]) {
      expect(decompressRtf(compressRtf(latin1(text)), noLimit)).toEqual(latin1(text));
    }
  });

  it('reads uncompressed RTF', () => {
    const text = latin1('{\\rtf1 text}');
    const bytes = Buffer.concat([header('MELA', text.length, text.length), text, Buffer.from('rest')]);
    expect(decompressRtf(bytes, noLimit)).toEqual(text);
    expect(decompressRtf(bytes, 5)).toEqual(text.subarray(0, 5));
  });

  it('ends at its limit, whatever the size that the header names', () => {
    const run = Buffer.concat([latin1('\x00abcdefgh'), Buffer.from(`ff${'0cff'.repeat(8)}`, 'hex')]);
    const bytes = Buffer.concat([header('LZFu', run.length, 0xffff_ffff), run]);
    const whole = decompressRtf(bytes, noLimit);
    expect(whole?.buffer.byteLength).toBeLessThan(9 * bytes.length + dictionary.length);
    expect(decompressRtf(bytes, 20)).toEqual(whole?.subarray(0, 20));
    expect(decompressRtf(header('LZFu', 0, 0xffff_ffff), noLimit)).toEqual(Buffer.of());
    expect(decompressRtf(header('MELA', 0, 0xffff_ffff), noLimit)).toEqual(Buffer.of());
  });

  it('makes at most eight bytes of one', () => {
    // Each reference repeats the last 17 bytes of the dictionary, and then itself.
    const references = Buffer.concat(
      Array.from({ length: 5000 }, (_, group) => {
        const write = (bit: number) => (dictionary.length + (group * 8 + bit) * 17 - 17) & 4095;
        return Buffer.from([
          0xff,
          ...[0, 1, 2, 3, 4, 5, 6, 7].flatMap((bit) => [write(bit) >> 4, ((write(bit) & 15) << 4) | 15]),
        ]);
      }),
    );
    const text = decompressRtf(Buffer.concat([header('LZFu', 0, 0xffff_ffff), references]), noLimit);
    expect(text).toEqual(Buffer.from(dictionary.subarray(-17).toString().repeat(40_000)));
    expect(text).toHaveLength(references.length * 8);
  });

  it('ends where a reference leads before the dictionary, or is cut', () => {
    const content = Buffer.from('02617fff62', 'hex');
    expect(decompressRtf(Buffer.concat([header('LZFu', 5, 100), content]), noLimit)).toEqual(latin1('a'));
    expect(decompressRtf(Buffer.concat([header('LZFu', 3, 100), content.subarray(0, 3)]), noLimit)).toEqual(
      latin1('a'),
    );
  });

  it('reads a part as the beginning of the whole', () => {
    const bytes = compressRtf(latin1('{\\rtf1\\ansi some text, some text, {\\b some text}}'));
    const whole = decompressRtf(bytes, noLimit);
    for (let length = 0; length < bytes.length; length++) {
      const part = decompressRtf(bytes.subarray(0, length), noLimit);
      if (length < 16) expect(part).toBeUndefined();
      else expect(part).toEqual(whole?.subarray(0, part?.length));
    }
  });

  it('refuses another type', () => {
    expect(decompressRtf(latin1('....abcdLZFU----text'), noLimit)).toBeUndefined();
  });
});

describe('decodeCodePage', () => {
  test.each([
    [1251, 'cff0e8e2e5f2', 'Привет'],
    [932, '93fa967b', '日本'],
    [936, 'd6d0b9fa', '中国'],
    [949, 'c7d1b1db', '한글'],
    [950, 'a4a4', '中'],
    [874, 'a1', 'ก'],
    [10000, '8a', 'ä'],
    [20866, 'd0', 'п'],
    [28605, 'a4', '€'],
    [50220, '1b2442467c1b2842', '日'],
    [51932, 'c6fc', '日'],
    [54936, '8139ee39', '㐀'],
    [65001, 'e282ac', '€'],
    [1200, 'ac20', '€'],
    [1201, '20ac', '€'],
    [20127, '4180', 'A€'],
    [0xffff_ffff, '80', '€'],
  ])('decodes code page %d', (codePage, hex, text) => {
    expect(decodeCodePage(Buffer.from(hex, 'hex'), codePage)).toBe(text);
  });

  it('decodes any code page', () => {
    const bytes = Buffer.from('A\x85', 'latin1');
    const texts = Array.from({ length: 0x1_0000 }, (_, codePage) => decodeCodePage(bytes, codePage));
    expect(texts).not.toContain('');
  });
});

const read = (rtf: string, maxChars = 1000) => readRtf(latin1(rtf), maxChars);
const readText = (rtf: string) => read(`{\\rtf1\\ansi ${rtf}}`)?.text;
const readHtml = (rtf: string) => read(`{\\rtf1\\ansi\\fromhtml1 ${rtf}}`)?.text;

describe('readRtf', () => {
  it('reads only RTF', () => {
    for (const none of ['', '{', '{\\rt', ' {\\rtf1 a}', 'rtf']) expect(read(none)).toBeUndefined();
    expect(read('{\\rtf')).toEqual({ text: '', isHtml: false });
    expect(read('{\\rtf1 a}b')).toEqual({ text: 'a', isHtml: false });
  });

  it('reads the text of a document', () => {
    const rtf = String.raw`\ansicpg1252\deff0{\fonttbl{\f0\fswiss Arial;}{\f1\fcharset204 Times;}}{\colortbl;\red0\green0\blue0;}
{\stylesheet{\s0 Normal;}}{\*\generator Riched20;}{\info{\title Title}}\viewkind4\uc1\pard\f0\fs20 First\par
\b Sec\b0 ond{\i  word}\line\tab third\par\pard\lquote a\rquote  \{b\}\\c\~d\_e\-f\emdash\par
1\cell 2\cell\row {\field{\*\fldinst HYPERLINK "https://x.example"}{\fldrslt link}}{\pict 0102}{\header h}`;
    expect(readText(rtf)).toBe('First\nSecond word\n\tthird\n\u2018a\u2019 {b}\\c\u00a0d\u2011ef\u2014\n1\t2\t\nlink');
  });

  it('reads encapsulated text as text', () => {
    expect(read(String.raw`{\rtf1\ansi\fromtext {\fonttbl{\f0 Courier;}}\f0 <b>\par 2}`)).toEqual({
      text: '<b>\n2',
      isHtml: false,
    });
  });

  it('reads encapsulated HTML', () => {
    const rtf = String.raw`{\rtf1\ansi\ansicpg1252\fromhtml1 \deff0{\fonttbl{\f0\fswiss Arial;}{\f1\fswiss\fcharset204 Arial;}}
{\*\generator Microsoft Exchange;}{\*\formatConverter converted from html;}{\*\htmltag64}\uc1\pard\plain\deftab360 \f0\fs24
{\*\htmltag19 <html>}{\*\htmltag2 \par
<style>p \{color:red\}</style>\tab <!--\'e4-->}{\*\htmltag50 <body>}\htmlrtf \lang1031 \htmlrtf0
{\*\htmltag64 <p class="a">}\htmlrtf {\htmlrtf0 Gr\'fc\'dfe, {\*\htmltag148 &lt;}\htmlrtf <\htmlrtf0 {\htmlrtf\f1\htmlrtf0 \'cf\u1088?\'e8}
{\*\mhtmltag84 <a href="mhtml">}{\*\htmltag84 <a href="mailto:a@x.example">}\htmlrtf {\field{\*\fldinst{HYPERLINK "mailto:a@x.example"}}{\fldrslt\cf1\ul \htmlrtf0 a@x.example\htmlrtf }\htmlrtf0 \htmlrtf }\htmlrtf0 {\*\htmltag92 </a>}\htmlrtf\par}\htmlrtf0
{\*\htmltag72 </p>}{\*\htmltag58 </body>}{\*\htmltag27 </html>}}`;
    expect(read(rtf)).toEqual({
      text: '<html>\n<style>p {color:red}</style>\t<!--ä--><body><p class="a">Grüße, &lt;При<a href="mailto:a@x.example">a@x.example</a></p></body></html>',
      isHtml: true,
    });
  });

  it('keeps the state of a group within it', () => {
    expect(readHtml('a\\htmlrtf b{\\htmlrtf0 c}d\\htmlrtf0 e')).toBe('ace');
    expect(readHtml('a{\\htmlrtf1 b}c')).toBe('ac');
    expect(readHtml('{\\*\\htmltag a{\\*\\x b}{c}}{\\pntext 1.\\tab}{\\*\\y{\\*\\htmltag d}}e')).toBe('ace');
    expect(readText('{\\uc0\\u8364}\\u8364?{\\listtext 1.\\tab}x')).toBe('€€1.\tx');
  });

  it('knows HTML only by \\fromhtml at the beginning', () => {
    expect(read('{\\rtf1\\fromhtml0 a{\\*\\htmltag <b>}}')).toEqual({ text: 'a', isHtml: false });
    expect(read('{\\rtf1 a\\fromhtml1 {\\*\\htmltag <b>}}')).toEqual({ text: 'a', isHtml: false });
    expect(read('{\\rtf1{\\fromhtml1 a}\\htmlrtf b}')).toEqual({ text: 'ab', isHtml: false });
  });

  test.each([
    ['\\u8364?x', '€x'],
    ['\\u8364 ?x', '€x'],
    ["\\u8364\\'80x", '€x'],
    ['\\u-10179?\\u-8704?x', '😀x'],
    ['\\uc3\\u8364abcx', '€x'],
    ["\\uc4\\u8364a\\'62\\b\\bin2 xyx", '€x'],
    ['\\uc9\\u8364 ab{x}', '€x'],
    ['{\\uc9\\u8364 ab}x', '€x'],
    ['\\u8364\\u8364?x', '€€x'],
    ['\\u-10179?x', '\ufffdx'],
    ['\\u x', '\0'],
  ])('reads %s', (rtf, text) => {
    expect(readText(rtf)).toBe(text);
  });

  it('decodes bytes in the code page of the font, also characters of two bytes', () => {
    const fonts = '{\\fonttbl{\\f1\\fcharset204 A;}{\\f2\\fnil\\fcharset128 B;}{\\f3\\cpg1253 C;}{\\f4\\fcharset1 D;}}';
    expect(readText(`\\ansicpg1250${fonts}\\f1\\'cf{\\f2\\'93\\'fa\\'83A}\\f3\\'f0\\f4\\'b9\\f9\\'b9`)).toBe(
      'П日アπąą',
    );
    expect(readText(`\\ansicpg1250\\deff1${fonts}\\'cf\\f3\\'f0\\plain\\'cf`)).toBe('ПπП');
    expect(readHtml(`\\ansicpg1250${fonts}\\f1{\\*\\htmltag \\'b9}\\'cf`)).toBe('ąП');
    expect(readText("\\ansicpg65001 \xe2\x82\xac\\par\xe2\\'82\xac")).toBe('€\n€');
  });

  test.each([
    ["a\\'zzb\\'4", 'azzb4'],
    ['a\\bin3 }}}b', 'ab'],
    ['a\\bin-3 b', 'ab'],
    ['a\\bin4294967295 b', 'a'],
    ['a\\par-b\\par-1b', 'a\n-b\nb'],
    [`a\\${'w'.repeat(100)}1b`, 'ab'],
    [`a\\par${'9'.repeat(100)} b`, 'a\nb'],
    ['a\\\nb\\\tc\\:d', 'a\nb\tcd'],
    ['a\0\r\nb', 'ab'],
    ['a}b', 'a'],
    ['a{b', 'ab'],
    ['a\\', 'a}'],
  ])('reads %j', (rtf, text) => {
    expect(readText(rtf)).toBe(text);
  });

  it('returns at most the characters of the limit, from the beginning', () => {
    expect(read("{\\rtf1 abc\\u8364?\\'e4def}", 5)?.text).toBe('abc€ä');
    expect(read('{\\rtf1 abcdef}', 3)?.text).toBe('abc');
    expect(read('{\\rtf1 ab\\u-10179?\\u-8704?}', 3)?.text).toBe('ab\ufffd');
    expect(read('{\\rtf1 abc}', 0)?.text).toBe('');
  });

  it('reads groups 10,000 deep, and ends there', () => {
    const deep = (depth: number) => read(`{\\rtf1 ${'{'.repeat(depth)}a${'}'.repeat(depth)}b}`)?.text;
    expect(deep(9999)).toBe('ab');
    expect(deep(10_000)).toBe('');
    expect(read(`{\\rtf1 a${'{'.repeat(1_000_000)}`)?.text).toBe('a');
  });

  const token = fc.oneof(
    fc.constantFrom(
      ...[
        '{',
        '}',
        '{\\*',
        '\\htmltag84 ',
        '\\htmlrtf ',
        '\\htmlrtf0 ',
        '\\fonttbl',
        '\\f1',
        '\\fcharset128',
        '\\cpg936 ',
      ],
      ...[
        "\\'83",
        "\\'",
        "\\'e",
        '\\u8364',
        '\\u-1 ',
        '\\uc2 ',
        '\\bin3 ',
        '\\plain',
        '\\par ',
        '\\ansicpg65001',
        '\\',
        '\0',
      ],
      ...['\\*', '\\deff1', '\\pict ', '\\info', '\\fromhtml1', '<b>', '\xe4\xf6', '\r\n', 'text ', '-1'],
    ),
    fc.string({ unit: 'binary-ascii', maxLength: 3 }),
  );

  it('reads any document, and its parts as beginnings of the whole', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 60 }), fc.boolean(), (tokens, isHtml) => {
        const rtf = `{\\rtf1\\ansi${isHtml ? '\\fromhtml1' : ''} ${tokens.join('')}`;
        const whole = read(rtf);
        expect(whole?.text.length).toBeLessThanOrEqual(rtf.length);
        const limit = Math.floor((whole?.text.length ?? 0) / 2);
        const cut = read(rtf, limit)?.text ?? '';
        expect(whole?.text.startsWith(cut.replace(/\ufffd$/, ''))).toBe(true);
      }),
      { numRuns: runs(300, 20_000) },
    );
  });

  test.each([
    '{',
    '{}',
    '\\u1',
    "\\'e4",
    "\\'e4\\u228?",
    "\\ansicpg9\\'e4\\ansicpg8\\'e4",
    '\\f1\\f2',
    '{\\*\\x ',
    'a',
    'ä',
    '\\par',
    '\\bin1 ',
    '\\',
    '{\\f1\xe4}',
  ])('takes linear time for many %s', async (unit) => {
    await withinLinearTime(unit, (text) =>
      read(`{\\rtf1{\\fonttbl{\\f1\\fcharset204}{\\f2\\fcharset161}}${text}`, noLimit),
    );
  });
});
