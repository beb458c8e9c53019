import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ParsedMail } from './mail.ts';
import { parseMail } from './parse.ts';

const head = 'From: Ada <ada@example.org>\r\nTo: support@example.com\r\n';

async function parsed(mail: string | Uint8Array): Promise<ParsedMail> {
  const read = await parseMail(typeof mail === 'string' ? Buffer.from(mail, 'latin1') : mail);
  if ('problem' in read) throw new Error(read.problem);
  return read;
}

const multipart = (parts: readonly string[], type = 'mixed') =>
  `${head}Content-Type: multipart/${type}; boundary=b\r\n\r\n${parts.map((part) => `--b\r\n${part}\r\n`).join('')}--b--\r\n`;

/** The bytes of a text in a transfer encoding. */
function encoded(content: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(content, 'latin1').toString('base64').replace(/.{76}/g, '$&\r\n');
  if (encoding !== 'quoted-printable') return content;
  return content.replace(
    /[=\x80-\xff\0]|[ \t](?=\r)/g,
    (sign) => `=${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

describe('a file has the bytes that were sent', () => {
  const contents = {
    'CSV with CRLF': 'id;name\r\n1;A\r\n2;B',
    'a last line break': 'a\r\n',
    'several last line breaks': 'a\r\n\r\n\r\n',
    'line feeds': 'a\nb\n\nc',
    'trailing spaces': 'a  \r\nb\t\r\n',
    'lines that look like boundaries': '--\r\n--bb\r\n-- b\r\n',
    nothing: '',
    'binary bytes': '\x89PNG\r\n\x1a\n\0\xff\xfe\r\r\n',
    'a mail': 'From: kim@x.org\r\nDKIM-Signature: v=1;\r\n b=x\r\n\r\nText\r\n',
  };

  it.each(
    Object.entries(contents).flatMap(([name, content]) =>
      ['7bit', '8bit', 'binary', 'quoted-printable', 'base64'].map((encoding) => [name, encoding, content] as const),
    ),
  )('%s in %s', async (_, encoding, content) => {
    for (const type of ['text/csv', 'application/octet-stream', 'text/calendar', 'text/plain']) {
      const part = `Content-Type: ${type}; name=a\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${encoded(content, encoding)}`;
      const { files } = await parsed(multipart(['\r\ntext', part, part]));
      expect(files.map(({ bytes }) => Buffer.from(bytes).toString('latin1'))).toEqual([content, content]);
    }
  });

  it('a mail as a file, in a mail with line feeds only, and in base64 with a padding in each line', async () => {
    const inner = 'From: a@b.de\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nx\r\n--c--\r\n';
    const attached = `Content-Type: message/rfc822; name=a.eml\r\nContent-Disposition: attachment\r\n\r\n${inner}`;
    const { files } = await parsed(multipart([attached]));
    expect(Buffer.from(files[0]?.bytes ?? []).toString()).toBe(inner);
    const unix = multipart(['Content-Type: text/csv; name=a\r\n\r\na\r\nb']).replaceAll('\r', '');
    expect(Buffer.from((await parsed(unix)).files[0]?.bytes ?? []).toString()).toBe('a\nb');
    const padded = 'Content-Type: text/csv; name=a\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ==\r\nYg==';
    expect(Buffer.from((await parsed(multipart([padded]))).files[0]?.bytes ?? []).toString()).toBe('ab');
  });

  it('a line of more than 64 KiB that ends with a carriage return', async () => {
    const inner = `From: b@x.org\r\n\r\n${'x'.repeat(70_000)}\r`;
    const part = `Content-Type: message/rfc822\r\nContent-Disposition: attachment\r\n\r\n${inner}`;
    const { files } = await parsed(multipart([part, part]));
    expect(files.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual([inner, inner]);
    expect((await parsed(`${head}\r\n${'x'.repeat(70_000)}\r`)).body?.trimEnd()).toHaveLength(70_000);
    expect((await parsed(multipart([part.replace('attachment', 'inline')]))).body).toContain('xxx');
  });

  it('that are many and random', async () => {
    const random = Array.from({ length: 20 }, (_, at) =>
      createHash('sha512').update(`${at}`).digest().toString('latin1'),
    );
    const parts = random.map(
      (content) => `Content-Type: image/x; name=a\r\nContent-Transfer-Encoding: binary\r\n\r\n${content}`,
    );
    const { files } = await parsed(multipart(parts));
    expect(files.map(({ bytes }) => Buffer.from(bytes).toString('latin1'))).toEqual(random);
  });
});

describe('a text', () => {
  it('that is a named file is one, except for the first text', async () => {
    const { body, files } = await parsed(
      multipart([
        'Content-Type: text/plain; name=body.txt\r\n\r\nHello',
        'Content-Type: text/plain; name=notes.txt\r\nContent-Disposition: inline\r\n\r\nNotes',
        'Content-Type: text/plain\r\n\r\nBye',
      ]),
    );
    expect(body).toBe('Hello\nBye');
    expect(files.map(({ name }) => name)).toEqual(['notes.txt']);
  });

  it('whose forms have names is none the less one', async () => {
    const named = multipart(
      ['Content-Type: text/plain; name=a.txt\r\n\r\nplain', 'Content-Type: text/html; name=a.html\r\n\r\n<p>rich</p>'],
      'alternative',
    );
    expect(await parsed(named)).toMatchObject({ body: '<p>rich</p>', files: [] });
  });

  it.each(['text', 'plain', 'text/enriched', 'text/markdown; charset=utf-8'])('of the type %s is one', async (type) => {
    const part = `Content-Type: ${type}\r\n\r\nHello`;
    expect(await parsed(head + part)).toMatchObject({ body: 'Hello', isHtml: false, files: [] });
    const { body, files } = await parsed(multipart(['Content-Type: text/plain\r\n\r\nBye', part]));
    expect([body, files.length]).toEqual(type.includes('/') ? ['Bye', 1] : ['Bye\nHello', 0]);
  });

  it.each(['text/calendar', 'text/vcard', 'text/x-vcard', 'text/csv'])('is none of the type %s', async (type) => {
    const { body, files } = await parsed(`${head}Content-Type: ${type}\r\n\r\nHello`);
    expect([body, files.length]).toEqual([null, 1]);
  });

  it('in HTML is read in the encoding that it declares itself', async () => {
    const html = '<meta charset="windows-1250"><p>D\x9fwi\xeak</p>';
    expect((await parsed(`${head}Content-Type: text/html\r\n\r\n${html}`)).body).toContain('Dźwięk');
    expect((await parsed(`${head}Content-Type: text/html; charset=iso-8859-1\r\n\r\n${html}`)).body).toContain(
      'DŸwiêk',
    );
  });

  it('beside HTML is shown within it', async () => {
    const { body, isHtml } = await parsed(
      multipart(['Content-Type: text/html\r\n\r\n<p>rich</p>', 'Content-Type: text/plain\r\n\r\na < b & c\r\nd']),
    );
    expect(isHtml).toBe(true);
    expect(body).toBe('<p>rich</p>\n<div>a &lt; b &amp; c<br>\nd</div>');
  });

  it('that flows is joined', async () => {
    const flowed = (parameters: string, text: string) =>
      parsed(`${head}Content-Type: text/plain; format=flowed${parameters}\r\n\r\n${text}`);
    expect((await flowed('', 'one \r\ntwo\r\n> a \r\n> b\r\n-- \r\nKim')).body).toBe('one two\n> a b\n-- \nKim');
    expect((await flowed('; delsp=yes', 'on \r\ne')).body).toBe('one');
  });

  it('of a mail within the mail begins with its headers as they are written', async () => {
    const inner =
      'From: =?utf-8?Q?J=C3=B6rg?= <j@x.org>\r\nDate: Mon, 2 Mar 2026 07:00:00 +0000\r\nSubject: Meter\r\nTo: k@x.org\r\n\r\nText';
    const { body } = await parsed(multipart(['\r\nSee below', `Content-Type: message/rfc822\r\n\r\n${inner}`]));
    expect(body).toBe(
      'See below\n\nFrom: Jörg <j@x.org>\nSubject: Meter\nDate: Mon, 2 Mar 2026 07:00:00 +0000\nTo: k@x.org\n\nText',
    );
  });

  it.each([
    ['parts', `Content-Type: multipart/mixed; boundary=c\r\n\r\n${'--c\r\n\r\nx\r\n'.repeat(1001)}--c--`],
    ['headers', `X: ${'x'.repeat(1024 * 1024)}\r\n\r\nx`],
  ])('of a mail within the mail that has too many %s stays a file', async (_, inner) => {
    const { body, files } = await parsed(multipart(['\r\nSee below', `Content-Type: message/rfc822\r\n\r\n${inner}`]));
    expect(body).toBe('See below');
    expect(files.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual([inner]);
  });

  it('of mails within the mail is read while they have no more parts together than a mail', async () => {
    const inner = 'Content-Type: multipart/mixed; boundary=c\r\n\r\n' + '--c\r\n\r\nx\r\n'.repeat(30);
    const messages = Array.from({ length: 50 }, () => `Content-Type: message/rfc822\r\n\r\n${inner}--c--`);
    const { files } = await parsed(multipart(messages));
    // Each has 31 parts.
    expect(files).toHaveLength(50 - Math.floor(1000 / 31));
  });

  it('of mails within mails is read two levels deep, and is a file below that', async () => {
    const nest = (depth: number): string =>
      depth === 0
        ? 'Subject: last\r\n\r\ndeepest'
        : `Content-Type: message/rfc822\r\n\r\nSubject: ${depth}\r\n${nest(depth - 1)}`;
    expect((await parsed(head + nest(2))).body).toContain('deepest');
    const deeper = await parsed(head + nest(3));
    expect(deeper.body).not.toContain('deepest');
    expect(deeper.files.map(({ name }) => name)).toEqual(['attachment.eml']);
  });
});

describe('what programs wrap', () => {
  const base64 = (type: string, content: Buffer | string) =>
    `Content-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(content).toString('base64')}`;
  /** An object of DER: its tag, its length, and its content. */
  const der = (tag: number, ...contents: readonly (Buffer | string)[]) => {
    const content = Buffer.concat(contents.map((one) => Buffer.from(one)));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(content.length);
    return Buffer.concat([Buffer.of(tag, 0x84), length, content]);
  };
  const oid = (hex: string) => Buffer.from(hex, 'hex');
  const signedOid = oid('06092a864886f70d010702');
  const dataOid = oid('06092a864886f70d010701');
  const signed = (text: string) =>
    der(
      0x30,
      signedOid,
      der(0xa0, der(0x30, der(0x02, '\x01'), der(0x31), der(0x30, dataOid, der(0xa0, der(0x04, text))))),
    );
  const inner =
    'Content-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nGr\u00f6\u00dfe\r\n--c\r\nContent-Type: text/csv; name=a.csv\r\n\r\n1;2\r\n--c--\r\n';

  it.each([
    'application/pkcs7-mime; smime-type=signed-data; name=smime.p7m',
    'application/x-pkcs7-mime; name=smime.p7m',
    'application/octet-stream; name=smime.p7m',
  ])('into a signature (%s) is read, and marked as unverified', async (type) => {
    const { body, files } = await parsed(`${head}${base64(type, signed(inner))}`);
    expect(body).toContain('was not verified');
    expect(body).toContain('Größe');
    expect(files.map(({ name }) => name)).toEqual(['a.csv', 'smime.p7m']);
    const within = await parsed(multipart(['\r\nouter', base64(type, signed(inner))]));
    expect(within.body).toMatch(/outer[\s\S]*not verified[\s\S]*Größe/);
  });

  it('into a signature leaves no room for its file, which is then left out', async () => {
    const binary = (bytes: number) => `Content-Type: application/x; name=a\r\n\r\n${'x'.repeat(bytes)}`;
    const large = der(
      0x30,
      signedOid,
      der(0xa0, der(0x30, der(0x02, '\x01'), der(0x31), der(0x30, dataOid, der(0xa0, der(0x04, binary(14_000_000)))))),
    );
    const { files } = await parsed(
      `${head}Content-Type: application/pkcs7-mime; name=smime.p7m\r\n\r\n${large.toString('latin1')}`,
    );
    expect(files.map(({ name, bytes }) => [name, bytes.length])).toEqual([['a', 14_000_000]]);
  });

  it('into a signature of indefinite length is read too', async () => {
    const piece = (text: string) => der(0x04, text);
    const open = (tag: number, ...contents: readonly Buffer[]) =>
      Buffer.concat([Buffer.of(tag, 0x80), ...contents, Buffer.of(0, 0)]);
    const text = open(0x24, piece('Content-Type: text/plain\r\n\r\nfirst '), piece('second'));
    const mail = open(
      0x30,
      signedOid,
      open(0xa0, open(0x30, der(0x02, '\x01'), der(0x31), open(0x30, dataOid, open(0xa0, text)))),
    );
    const { body } = await parsed(`${head}${base64('application/pkcs7-mime', mail)}`);
    expect(body).toContain('first second');
  });

  it.each([
    ['an encrypted message', 'application/pkcs7-mime; smime-type=enveloped-data', signed(inner)],
    [
      'a detached signature',
      'application/pkcs7-mime',
      der(0x30, signedOid, der(0xa0, der(0x30, der(0x02, '\x01'), der(0x31), der(0x30, dataOid)))),
    ],
    ['another content', 'application/pkcs7-mime', der(0x30, dataOid)],
    ['no ASN.1', 'application/pkcs7-mime', Buffer.from('hello')],
    ['nothing', 'application/pkcs7-mime', Buffer.of()],
    ['half of a message', 'application/pkcs7-mime', signed(inner).subarray(0, 60)],
    ['no winmail.dat', 'application/ms-tnef; name=winmail.dat', Buffer.from('hello')],
  ])('and %s stay files', async (_, type, content) => {
    const { body, files } = await parsed(`${head}${base64(type, content)}`);
    expect(body).toBeNull();
    expect(files.map(({ bytes }) => Buffer.from(bytes))).toEqual([content]);
  });

  /** An attribute of TNEF: where it belongs, its id, and its content with a checksum that nobody reads. */
  const attribute = (level: number, id: number, content: string) => {
    const bytes = Buffer.from(`${content}\0`, 'latin1');
    const head = Buffer.alloc(9);
    head.writeUInt8(level, 0);
    head.writeUInt32LE(id, 1);
    head.writeUInt32LE(bytes.length, 5);
    return Buffer.concat([head, bytes, Buffer.alloc(2)]);
  };
  const winmail = Buffer.concat([
    Buffer.of(0x78, 0x9f, 0x3e, 0x22, 1, 0),
    attribute(1, 0x0002_800c, 'The meter reading'),
    attribute(2, 0x0006_9002, ''),
    attribute(2, 0x0001_8010, 'reading.txt'),
    attribute(2, 0x0006_800f, '4711'),
  ]);

  it('into a winmail.dat is read instead of it', async () => {
    const part = base64('application/ms-tnef; name=winmail.dat', winmail);
    const alone = await parsed(multipart(['Content-Type: text/plain\r\n\r\n \r\n', part]));
    expect(alone).toMatchObject({ body: 'The meter reading', files: [{ name: 'reading.txt' }] });
    const withText = await parsed(
      multipart(['\r\nText', base64('application/octet-stream; name=WINMAIL.DAT', winmail)]),
    );
    expect(withText).toMatchObject({ body: 'Text', files: [{ name: 'reading.txt' }] });
    const twice = await parsed(multipart([part, part]));
    expect(twice.files.map(({ name }) => name)).toEqual(['reading.txt', 'winmail.dat']);
  });

  it('into signatures within signatures is read two levels deep', async () => {
    const wrap = (text: string) => base64('application/pkcs7-mime', signed(text));
    const twice = await parsed(`${head}${wrap(wrap('\r\ndeepest'))}`);
    expect(twice.body).toContain('deepest');
    const thrice = await parsed(`${head}${wrap(wrap(wrap('\r\ndeepest')))}`);
    expect(thrice.body).not.toContain('deepest');
  });
});
