import { runs } from '@ticketing/testkit/search-effort.ts';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, it, test } from 'vitest';
import { readTnef, type TnefContent, type TnefFile } from './tnef.ts';

const limits = { bodyBytes: 100_000, files: 100 };
const read = (bytes: Uint8Array) => readTnef(bytes, limits);

const u16 = (value: number) => Buffer.from([value & 0xff, value >> 8]);
const u32 = (value: number) => Buffer.from([value, value >>> 8, value >>> 16, value >>> 24]);
const padded = (bytes: Uint8Array) => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
const sized = (bytes: Uint8Array) => Buffer.concat([u32(bytes.length), padded(bytes)]);
const cp1251 = (text: string) => iconv.encode(text, 'cp1251');
const utf16 = (text: string) => Buffer.from(`${text}\0`, 'utf16le');

/** An attribute. The upper half of its id is its type, which does not matter, nor does the checksum of a large one. */
function attribute(level: 1 | 2, id: number, data: Uint8Array): Buffer {
  const checksum = data.subarray(0, 10_000).reduce((sum, byte) => (sum + byte) & 0xffff, 0);
  return Buffer.concat([Buffer.from([level]), u32(0x60000 | id), u32(data.length), data, u16(checksum)]);
}

const tnef = (...all: Uint8Array[]) => Buffer.concat([u32(0x223e9f78), u16(1), ...all]);
const codePage = (number: number) => attribute(1, 0x9007, Buffer.concat([u32(number), u32(0)]));
const renderData = attribute(2, 0x9002, Buffer.alloc(14));
const title = (text: Uint8Array) => attribute(2, 0x8010, text);
const data = (text: string) => attribute(2, 0x800f, Buffer.from(text));
const list = (all: readonly Uint8Array[]) => Buffer.concat([u32(all.length), ...all]);
const messageProperties = (...all: Uint8Array[]) => attribute(1, 0x9003, list(all));
const attachmentProperties = (...all: Uint8Array[]) => attribute(2, 0x9005, list(all));

const [object, string8, unicode, binary] = [0x0d, 0x1e, 0x1f, 0x102];
const property = (id: number, type: number, value: Uint8Array) =>
  Buffer.concat([u16(type), u16(id), ...(type === 3 ? [value] : [u32(1), sized(value)])]);
const rtf = (type: 'LZFu' | 'MELA', text: string) => {
  const bytes = Buffer.from(text, 'latin1');
  // LZFu can do without references: a byte of flags stands before each eight bytes.
  const blocks = Array.from({ length: Math.ceil(bytes.length / 8) }, (_, index) =>
    Buffer.concat([Buffer.of(0), bytes.subarray(8 * index, 8 * index + 8)]),
  );
  const content = type === 'MELA' ? bytes : Buffer.concat(blocks);
  const head = [u32(content.length + 12), u32(bytes.length), Buffer.from(type), u32(0)];
  return property(0x1009, binary, Buffer.concat([...head, content]));
};
const messageInterface = Buffer.from('0703020000000000c000000000000046', 'hex');
const embedded = (message: Uint8Array) =>
  Buffer.concat([
    renderData,
    attachmentProperties(
      property(0x3001, unicode, utf16('The message')),
      property(0x3701, object, Buffer.concat([messageInterface, message])),
      property(0x3705, 3, u32(5)),
    ),
  ]);

const file = (name: string | null, content: string, rest: Partial<TnefFile> = {}) => ({
  name,
  bytes: Buffer.from(content),
  mimeType: null,
  contentId: null,
  ...rest,
});
const content = (rest: Partial<TnefContent>) => ({ subject: null, body: null, isHtml: false, files: [], ...rest });

const outlook = Buffer.from(
  'eJ8+IgEAAQaQCAAEAAAAAAABAAEAAQeQBgAIAAAA5AQAAAAAAADoAAEIgAcAGAAAAElQTS5NaWNyb3NvZnQgTWFpbC5Ob3RlADEIAQyAAgAcAAAA' +
    'RGVyIFphZWhsZXJzdGFuZCBsaWVndCBiZWkuANMJAgKQBgAOAAAAAQD/////AAAAAAAAAAD9AwIQgAEAEQAAAHphZWhsZXJzdGFuZC50eHQAkwYC' +
    'D4AGABgAAABTdGFuZCA0NzExIGFtIDEuIE1hZXJ6DQqKBg==',
  'base64',
);

/** A message with everything that is read. */
const everything = tnef(
  codePage(1251),
  attribute(1, 0x8004, cp1251('Тема\0')),
  attribute(1, 0x800c, cp1251('Текст\r\nписьма\0')),
  messageProperties(
    property(0x1000, unicode, utf16('Plain text')),
    Buffer.concat([u16(3), u16(0x8001), Buffer.alloc(16, 7), u32(0), u32(34054), u32(1)]),
    Buffer.concat([
      u16(unicode),
      u16(0x8002),
      Buffer.alloc(16, 7),
      u32(1),
      sized(utf16('Keywords')),
      u32(1),
      sized(utf16('x')),
    ]),
    Buffer.concat([
      u16(0x1000 | unicode),
      u16(0x8003),
      Buffer.alloc(16),
      u32(0),
      u32(1),
      u32(2),
      sized(utf16('a')),
      sized(utf16('bc')),
    ]),
    Buffer.concat([u16(0x1003), u16(0x6001), u32(2), u32(1), u32(2)]),
    Buffer.concat([u16(0x000b), u16(0x0e1b), u32(1)]),
    Buffer.concat([u16(0x0040), u16(0x0039), Buffer.alloc(8)]),
    property(0x3fde, 3, u32(65001)),
    property(0x1013, binary, Buffer.from('<p>Привет €</p>\r\n')),
  ),
  renderData,
  title(cp1251('Отчет.txt\0')),
  data('one'),
  renderData,
  data('two'),
  attachmentProperties(
    property(0x3704, string8, Buffer.from('PHOTO~1.PNG\0')),
    property(0x3707, unicode, utf16('Foto €.png')),
    property(0x370e, string8, Buffer.from('image/png\0')),
    property(0x3712, unicode, utf16('foto@x.example')),
  ),
  embedded(
    tnef(
      codePage(1252),
      attribute(1, 0x800c, Buffer.from('Gr\xfc\xdfe\0', 'latin1')),
      renderData,
      title(Buffer.from('in.txt')),
      data('in'),
    ),
  ),
  renderData,
  attachmentProperties(property(0x3701, binary, Buffer.from('three'))),
);

const everythingRead = content({
  subject: 'Тема',
  body: '<p>Привет €</p>\n',
  isHtml: true,
  files: [
    file('Отчет.txt', 'one'),
    file('Foto €.png', 'two', { mimeType: 'image/png', contentId: 'foto@x.example' }),
    file('message-1.txt', '\ufeffGrüße', { mimeType: 'text/plain' }),
    file('in.txt', 'in'),
    file(null, 'three'),
  ],
});

describe('readTnef', () => {
  it('reads a text and a file', () => {
    const files = [file('zaehlerstand.txt', 'Stand 4711 am 1. Maerz\r\n')];
    expect(read(outlook)).toEqual(content({ body: 'Der Zaehlerstand liegt bei.', files }));
  });

  it('reads subject, body, files, and a message within the message', () => {
    expect(read(everything)).toEqual(everythingRead);
  });

  it('returns views of the input', () => {
    const input = new Uint8Array([1, 2, 3, ...everything]).subarray(3);
    for (const { name, bytes } of read(input)?.files ?? []) {
      expect(bytes.buffer === input.buffer).toBe(name !== 'message-1.txt');
    }
  });

  it('reads no other bytes', () => {
    for (const none of [Buffer.of(), Buffer.from('PK\x03\x04 text'), outlook.subarray(1), outlook.subarray(0, 5)]) {
      expect(read(none)).toBeUndefined();
    }
    expect(read(outlook.subarray(0, 6))).toEqual(content({}));
  });

  it('reads names in Unicode and in a code page, and takes the most exact', () => {
    const names = [
      title(Buffer.from('title\0')),
      attachmentProperties(property(0x3001, unicode, utf16('display'))),
      attachmentProperties(property(0x3704, string8, cp1251('имя\0rest'))),
      attachmentProperties(property(0x3707, unicode, utf16('длинное имя 日本 😀'))),
    ];
    const read1 = (...some: Uint8Array[]) => read(tnef(codePage(1251), renderData, data('a'), ...some))?.files[0]?.name;
    expect(read1()).toBeNull();
    expect(read1(...names.slice(1, 2))).toBe('display');
    expect(read1(...names.slice(0, 2))).toBe('title');
    expect(read1(...names.slice(0, 3))).toBe('имя');
    expect(read1(...names)).toBe('длинное имя 日本 😀');
    expect(read1(...names.slice(0, 3), attachmentProperties(property(0x3707, unicode, utf16(''))))).toBe('имя');
    expect(read1(attachmentProperties(property(0x3707, unicode, utf16('n'.repeat(9999)))))).toBe('n'.repeat(2048));
  });

  it('prefers the subject in Unicode', () => {
    const [old, exact] = [attribute(1, 0x8004, Buffer.from('old\0')), property(0x0037, unicode, utf16('日本'))];
    expect(read(tnef(old))?.subject).toBe('old');
    expect(read(tnef(messageProperties(exact), old))?.subject).toBe('日本');
  });

  const encapsulated = String.raw`{\rtf1\ansi\ansicpg1251\fromhtml1 {\fonttbl{\f0 A;}}{\*\htmltag <b>}\htmlrtf \b \htmlrtf0 \'cf\u1088?{\*\htmltag </b>}}`;

  test.each<[string, Uint8Array[], string | null, boolean]>([
    [
      'HTML in the code page of the message',
      [codePage(1251), messageProperties(property(0x1013, binary, cp1251('<b>п</b>')))],
      '<b>п</b>',
      true,
    ],
    [
      'HTML in Unicode',
      [messageProperties(property(0x1013, unicode, utf16('<b>日本</b>')), property(0x3fde, 3, u32(1251)))],
      '<b>日本</b>',
      true,
    ],
    [
      'HTML in 8-bit text',
      [
        codePage(1251),
        messageProperties(property(0x3fde, 3, u32(65001)), property(0x1013, string8, cp1251('<b>п</b>\0'))),
      ],
      '<b>п</b>',
      true,
    ],
    ['HTML in compressed RTF', [messageProperties(rtf('LZFu', encapsulated))], '<b>Пр</b>', true],
    ['HTML in RTF', [messageProperties(rtf('MELA', encapsulated))], '<b>Пр</b>', true],
    ['text in RTF', [messageProperties(rtf('LZFu', String.raw`{\rtf1\ansi\fromtext <b>\par \'e4}`))], '<b>\nä', false],
    ['RTF', [messageProperties(rtf('LZFu', String.raw`{\rtf1\ansi{\b bold}\par}`))], 'bold\n', false],
    ['text in Unicode', [messageProperties(property(0x1000, unicode, utf16('日\r\n本')))], '日\n本', false],
    ['text in 8 bits', [codePage(1251), messageProperties(property(0x1000, string8, cp1251('п\0')))], 'п', false],
    ['the old text', [codePage(1251), attribute(1, 0x800c, cp1251('п\0'))], 'п', false],
    [
      'text in windows-1252, without a code page',
      [attribute(1, 0x800c, Buffer.from('\x80\xe4', 'latin1'))],
      '€ä',
      false,
    ],
    ['no text', [attribute(1, 0x800c, Buffer.from(' \r\n\0'))], null, false],
  ])('reads %s', (_, attributes, body, isHtml) => {
    expect(read(tnef(...attributes))).toEqual(content({ body, isHtml }));
  });

  it('prefers HTML to RTF to text, among those with a text', () => {
    const forms = [
      property(0x1013, binary, Buffer.from('html')),
      rtf('LZFu', '{\\rtf1 rtf}'),
      property(0x1000, unicode, utf16('text')),
    ];
    const old = attribute(1, 0x800c, Buffer.from('old'));
    const bodies = [0, 1, 2, 3].map((from) => read(tnef(old, messageProperties(...forms.slice(from))))?.body);
    expect(bodies).toEqual(['html', 'rtf', 'text', 'old']);
    const empty = [property(0x1013, binary, Buffer.from('\r\n')), rtf('LZFu', '{\\rtf1\\par}'), rtf('MELA', 'none')];
    for (const one of empty) expect(read(tnef(messageProperties(one), old))?.body).toBe('old');
  });

  it('cuts the body at its limit, in UTF-8', () => {
    const forms = [
      property(0x1013, binary, Buffer.from('aäöü')),
      rtf('LZFu', "{\\rtf1 a\\'e4\\'f6\\'fc}"),
      property(0x1000, unicode, utf16('aäöü')),
    ];
    for (const form of forms) {
      const bytes = tnef(messageProperties(form, property(0x3fde, 3, u32(65001))));
      const bodies = [7, 6, 5, 4].map((bodyBytes) => readTnef(bytes, { bodyBytes, files: 1 })?.body);
      expect(bodies).toEqual(['aäöü', 'aäö', 'aäö', 'aä']);
    }
  });

  it('reads messages two levels deep, and keeps deeper ones as files', () => {
    const level = (depth: number, ...inner: Uint8Array[]) =>
      tnef(attribute(1, 0x800c, Buffer.from(`level ${depth}`)), renderData, data(`file ${depth}`), ...inner);
    const third = level(3);
    const bytes = level(0, embedded(level(1, embedded(level(2, embedded(third))), embedded(level(2)))));
    expect(
      read(bytes)?.files.map(({ name, bytes, mimeType }) => [name, Buffer.from(bytes).toString(), mimeType]),
    ).toEqual([
      [null, 'file 0', null],
      ['message-1.txt', '\ufefflevel 1', 'text/plain'],
      [null, 'file 1', null],
      ['message-2.txt', '\ufefflevel 2', 'text/plain'],
      [null, 'file 2', null],
      ['The message', third.toString(), 'application/ms-tnef'],
      ['message-3.txt', '\ufefflevel 2', 'text/plain'],
      [null, 'file 2', null],
    ]);
  });

  it('reads an embedded object that is no message as a file, and HTML of a message as HTML', () => {
    const html = tnef(messageProperties(property(0x1013, binary, Buffer.from('<b>'))));
    const ole = attachmentProperties(
      property(0x3701, object, Buffer.concat([Buffer.alloc(16, 1), Buffer.from('ole')])),
    );
    expect(read(tnef(embedded(html), renderData, ole))?.files).toEqual([
      file('message-1.html', '\ufeff<b>', { mimeType: 'text/html' }),
      file(null, 'ole'),
    ]);
  });

  it('keeps a message that has neither text nor files as a file', () => {
    const contact = tnef(attribute(1, 0x8004, Buffer.from('Ada')));
    const files = [
      file('The message', contact.toString('latin1'), { mimeType: 'application/ms-tnef', bytes: contact }),
    ];
    expect(read(tnef(embedded(contact)))?.files).toEqual(files);
  });

  it('leaves out attachments without content', () => {
    const link = attachmentProperties(property(0x3707, unicode, utf16('link.txt')), property(0x3705, 3, u32(7)));
    expect(read(tnef(renderData, link, renderData, data(''), renderData))?.files).toEqual([file(null, '')]);
  });

  it('reads at most the files of the limit, those of messages included', () => {
    const message = tnef(attribute(1, 0x800c, Buffer.from('text')), renderData, data('a'), renderData, data('b'));
    const bytes = tnef(renderData, data('0'), embedded(message), renderData, data('c'));
    const names = [0, 1, 2, 3, 4, 5, 6].map((files) =>
      readTnef(bytes, { ...limits, files })
        ?.files.map((one) => one.name ?? Buffer.from(one.bytes).toString())
        .join(),
    );
    expect(names).toEqual([
      '',
      '0',
      '0,message-1.txt',
      '0,message-1.txt,a',
      '0,message-1.txt,a,b',
      ...Array(2).fill('0,message-1.txt,a,b,c'),
    ]);
  });

  it('limits the texts of all messages within the message together', () => {
    const message = embedded(tnef(attribute(1, 0x800c, Buffer.from('1234567890'))));
    const texts = readTnef(tnef(message, message, message), { bodyBytes: 16, files: 10 })?.files.map(
      ({ bytes }) => bytes.length,
    );
    // The third has no text any more, and stays as it is.
    expect(texts).toEqual([13, 9, 27]);
  });

  it('limits the RTF of all messages within the message together', () => {
    const long = rtf('LZFu', `{\\rtf1{\\*\\comment ${'-'.repeat(250)}}rtf}`);
    const message = embedded(tnef(messageProperties(long, property(0x1000, unicode, utf16('text')))));
    const files = readTnef(tnef(message, message), { bodyBytes: 100, files: 10 })?.files;
    expect(files?.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['\ufeffrtf', '\ufefftext']);
  });

  it('reads the first of several values', () => {
    const values = [u16(0x1000 | unicode), u16(0x0037), u32(2), sized(utf16('first')), sized(utf16('second'))];
    expect(read(tnef(messageProperties(Buffer.concat(values))))?.subject).toBe('first');
  });

  it('ignores wrong checksums and attributes that it does not know', () => {
    const bytes = Buffer.from(outlook);
    bytes.writeUInt16LE(0, bytes.length - 2);
    expect(read(bytes)).toEqual(read(outlook));
    const more = [
      attribute(1, 0x0037, Buffer.from('x')),
      attribute(2, 0x8005, Buffer.alloc(14)),
      attribute(1, 0x9004, Buffer.alloc(4)),
    ];
    expect(read(tnef(...more, attribute(1, 0x8004, Buffer.from('s'))))).toEqual(content({ subject: 's' }));
  });
});

describe('damaged input', () => {
  it.each([
    ['a text and a file', outlook],
    ['everything', everything],
  ])('reads a part of %s as the beginning of the whole', (_, bytes) => {
    const whole = read(bytes) ?? content({});
    const bodies = [whole.body, 'Plain text', 'Текст\nписьма', null];
    for (let length = 6; length < bytes.length; length++) {
      const part = read(bytes.subarray(0, length));
      expect([whole.subject, null]).toContain(part?.subject);
      expect(bodies).toContain(part?.body);
      const contents = part?.files.map((one) => Buffer.from(one.bytes).toString());
      expect(contents).toEqual(whole.files.slice(0, contents?.length).map((one) => Buffer.from(one.bytes).toString()));
      const names = part?.files.map((one, index) => [null, 'PHOTO~1.PNG', whole.files[index]?.name].includes(one.name));
      expect(names).not.toContain(false);
    }
  });

  it('reads what stands before the damage', () => {
    const subject = attribute(1, 0x8004, Buffer.from('s'));
    const unknownType = Buffer.concat([u16(0x0999), u16(0x1000), u32(1)]);
    const text = property(0x1000, unicode, utf16('text'));
    const later = property(0x0037, unicode, utf16('later'));
    expect(read(tnef(subject, Buffer.of(3), attribute(1, 0x800c, Buffer.from('b'))))).toEqual(
      content({ subject: 's' }),
    );
    expect(read(tnef(subject, messageProperties(text, unknownType, later)))).toEqual(
      content({ subject: 's', body: 'text' }),
    );
    const badName = Buffer.concat([u16(3), u16(0x8001), Buffer.alloc(16), u32(2), u32(0), u32(0)]);
    expect(read(tnef(subject, messageProperties(text, badName, later)))).toEqual(
      content({ subject: 's', body: 'text' }),
    );
  });

  it('ends with the input where counts and sizes are larger', () => {
    const text = property(0x1000, unicode, utf16('text'));
    const counts = [0x1003, 0x1040, 0x1048, 0x1000 | unicode, 0x1000 | binary, 0x1001, unicode, binary].map((type) =>
      Buffer.concat([u16(type), u16(0x3701), u32(0xffff_ffff)]),
    );
    const sizes = [unicode, binary, object].map((type) =>
      Buffer.concat([u16(type), u16(0x1013), u32(1), u32(0xffff_ffff)]),
    );
    const names = [Buffer.concat([u16(3), u16(0x8001), Buffer.alloc(16), u32(1), u32(0xffff_ffff)])];
    for (const last of [...counts, ...sizes, ...names]) {
      const tail = Buffer.alloc(1000, 1);
      expect(read(tnef(messageProperties(text, last, tail)))).toEqual(content({ body: 'text' }));
    }
    expect(read(tnef(attribute(1, 0x9003, Buffer.concat([u32(0xffff_ffff), text]))))).toEqual(
      content({ body: 'text' }),
    );
    expect(read(tnef(Buffer.concat([Buffer.of(1), u32(0x800c), u32(0xffff_ffff), Buffer.from('text')])))).toEqual(
      content({}),
    );
  });

  it('reads over a million named properties and values', () => {
    const million = 1_000_000;
    const repeat = (bytes: Uint8Array) => Buffer.alloc(million * bytes.length, bytes);
    const named = repeat(Buffer.concat([u16(3), u16(0x8001), Buffer.alloc(16), u32(0), u32(1), u32(1)]));
    const values = Buffer.concat([u16(0x1000 | binary), u16(0x6001), u32(million), repeat(u32(0))]);
    const text = property(0x1000, unicode, utf16('text'));
    const lists = [
      Buffer.concat([u32(million + 1), named, text]),
      Buffer.concat([u32(2), values, text]),
      Buffer.concat([u32(0xffff_ffff), repeat(property(0x3fde, 3, u32(1251))), text]),
    ];
    for (const one of lists) expect(read(tnef(attribute(1, 0x9003, one)))).toEqual(content({ body: 'text' }));
  });

  it('reads over many attributes and attachments', () => {
    const repeat = (bytes: Uint8Array) => Buffer.alloc(100_000 * bytes.length, bytes);
    const ids = [0x8005, 0x9003, 0x9005, 0x9002, 0x800c];
    const empty = ids.map((id) => attribute(id === 0x9002 || id === 0x9005 ? 2 : 1, id, Buffer.of()));
    for (const one of empty) expect(read(tnef(repeat(one), renderData, data('a')))?.files).toEqual([file(null, 'a')]);
    expect(read(tnef(repeat(Buffer.concat([renderData, data('a')]))))?.files).toHaveLength(limits.files);
  });

  it('limits RTF that expands', () => {
    const references = Buffer.from(`ff${'0cff'.repeat(8)}`.repeat(100_000), 'hex');
    const bomb = Buffer.concat([u32(0xffff_ffff), u32(0xffff_ffff), Buffer.from('LZFu'), u32(0), references]);
    const bytes = tnef(messageProperties(property(0x1009, binary, bomb), property(0x1000, unicode, utf16('text'))));
    expect(read(bytes)?.body).toBe('text');
  });

  it('never fails, and returns no more than the input has', () => {
    const samples = [
      outlook,
      everything,
      tnef(messageProperties(rtf('LZFu', String.raw`{\rtf1\ansi\fromhtml1 {\*\htmltag <b>}\'e4\u1088?}`))),
    ];
    const change = fc.record({
      at: fc.nat(),
      value: fc.oneof(fc.constantFrom(0, 1, 2, 4, 0x7f, 0x80, 0xff), fc.nat(255)),
      size: fc.constantFrom(1, 1, 1, 4),
    });
    fc.assert(
      fc.property(fc.constantFrom(...samples), fc.array(change, { minLength: 1, maxLength: 8 }), (sample, changes) => {
        const bytes = new Uint8Array(sample);
        for (const { at, value, size } of changes) bytes.fill(value, at % bytes.length, (at % bytes.length) + size);
        const files = read(bytes)?.files ?? [];
        const views = files.filter((one) => one.bytes.buffer === bytes.buffer && one.bytes.length > 0);
        expect(views.reduce((sum, one) => sum + one.bytes.length, 0)).toBeLessThan(bytes.length);
      }),
      { numRuns: runs(2000, 200_000) },
    );
  });

  it('never fails for random bytes after the signature', () => {
    const all = seededBytes(200_000);
    for (let at = 0; at < all.length; at += 200) {
      const part = all.subarray(at, at + 200);
      read(tnef(part));
      read(tnef(attribute(1, 0x9003, part), attribute(2, 0x9005, part)));
    }
    expect(read(tnef(all))?.files).toEqual([]);
  });
});
