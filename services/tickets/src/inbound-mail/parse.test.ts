import { describe, expect, it } from 'vitest';
import { mailLimits, type ParsedMail } from './mail.ts';
import { parseMail } from './parse.ts';

const head = 'From: Ada <ada@example.org>\r\nTo: support@example.com\r\n';
const bytesOf = (text: string, encoding: BufferEncoding = 'utf8') => new Uint8Array(Buffer.from(text, encoding));

async function parsed(text: string | Uint8Array): Promise<ParsedMail> {
  const mail = await parseMail(typeof text === 'string' ? bytesOf(text) : text);
  if ('problem' in mail) throw new Error(mail.problem);
  return mail;
}

async function problemOf(text: string | Uint8Array) {
  const mail = await parseMail(typeof text === 'string' ? bytesOf(text) : text);
  return 'problem' in mail ? mail : undefined;
}

const withBody = (type: string, encoding: string, body: string) =>
  `${head}MIME-Version: 1.0\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}`;

const filePart = (content: string, headers = 'Content-Type: application/pdf; name="a.pdf"') =>
  `--b\r\n${headers}\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(content).toString('base64')}\r\n`;

const multipart = (parts: string, type = 'mixed') =>
  `${head}Content-Type: multipart/${type}; boundary=b\r\n\r\n${parts}--b--\r\n`;

describe('the texts of a mail', () => {
  it.each([
    ['iso-8859-1', '8bit', bytesOf(withBody('text/plain; charset=iso-8859-1', '8bit', 'Größe'), 'latin1')],
    ['windows-1252', '8bit', bytesOf(withBody('text/plain; charset=windows-1252', '8bit', '5 \x80 Größe'), 'latin1')],
    ['utf-8', '8bit', bytesOf(withBody('text/plain; charset=utf-8', '8bit', 'Größe'))],
    ['no charset, utf-8', '8bit', bytesOf(withBody('text/plain', '8bit', 'Größe'))],
    ['no charset, latin', '8bit', bytesOf(withBody('text/plain; format=flowed', '8bit', 'Größe'), 'latin1')],
    ['no type, latin', '8bit', bytesOf(`${head}\r\nGröße`, 'latin1')],
    ['an unknown charset', '8bit', bytesOf(withBody('text/plain; charset=x-none', '8bit', 'Größe'), 'latin1')],
    [
      'utf-8',
      'quoted-printable',
      bytesOf(withBody('text/plain; charset=utf-8', 'quoted-printable', 'Gr=C3=B6=\r\n=C3=9Fe')),
    ],
    ['no charset', 'quoted-printable', bytesOf(withBody('text/plain', 'quoted-printable', 'Gr=F6=DFe'))],
    ['iso-8859-15', 'base64', bytesOf(withBody('text/plain; charset=iso-8859-15', 'base64', 'R3L232U='))],
  ])('are decoded from %s, %s', async (_charset, _encoding, mail) => {
    expect((await parsed(mail)).body).toContain('Größe');
  });

  it('are decoded in parts and headers without a charset', async () => {
    const mail = `Subject: Zähler\r\nFrom: "Jörg" <j@example.org>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nGröße\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nGr\xc3\xb6\xc3\x9fe 2\r\n--b--\r\n`;
    expect(await parsed(bytesOf(mail, 'latin1'))).toMatchObject({
      subject: 'Zähler',
      fromName: 'Jörg',
      body: 'Größe\nGröße 2',
    });
  });

  it('are HTML if the mail has HTML, else plain, and null without any', async () => {
    const html = '--b\r\nContent-Type: text/html\r\n\r\n<p>rich</p>\r\n';
    const plain = '--b\r\nContent-Type: text/plain\r\n\r\nplain\r\n';
    expect(await parsed(multipart(plain + html, 'alternative'))).toMatchObject({ isHtml: true, body: '<p>rich</p>' });
    expect(await parsed(multipart(plain))).toMatchObject({ isHtml: false, body: 'plain' });
    expect(await parsed(multipart(filePart('x')))).toMatchObject({ body: null });
    expect(await parsed(`${head}\r\n \r\n`)).toMatchObject({ body: null });
  });

  // guarantee: I11
  it('lose NUL, and headers every control character', async () => {
    const mail = await parsed(`${head}Subject: a\0b\x07\x1bc\r\n\td\u2028e\r\n\r\nx\0y`);
    expect(mail).toMatchObject({ subject: 'a b c d e', body: 'xy' });
    const injected = '=?utf-8?q?a=0D=0ABcc=3A_x=40example.org=00?=';
    const encoded = await parsed(`From: ${injected} <a@example.org>\r\nSubject: ${injected}\r\n\r\nx`);
    expect(encoded).toMatchObject({ subject: 'a Bcc: x@example.org', fromName: 'a Bcc: x@example.org' });
  });

  // guarantee: I11
  it('are cut at their limits', async () => {
    const mail = (over: number) =>
      `From: ${'n'.repeat(320 + over)} <a@example.org>\r\nSubject: ${'s'.repeat(998 + over)}\r\n\r\n${'b'.repeat(mailLimits.bodyBytes + over)}`;
    const exact = await parsed(mail(0));
    expect([exact.fromName?.length, exact.subject?.length, exact.body?.length]).toEqual([320, 998, 5_242_880]);
    const over = await parsed(mail(1));
    expect([over.fromName?.length, over.subject?.length, over.body?.length]).toEqual([320, 998, 5_242_880]);
    expect(over.body?.endsWith('b')).toBe(true);
  });

  it('are read in spite of a boundary that is missing, or never occurs', async () => {
    const type = (rest: string) => `${head}Content-Type: multipart/mixed${rest}\r\n\r\nhello\r\n`;
    for (const rest of ['', '; boundary=never']) {
      const mail = await parsed(type(rest));
      expect(mail.from).toBe('ada@example.org');
      expect(mail.body).toBe('hello\n');
    }
    expect((await parsed(multipart('--b\r\n\r\n\r\n'))).body).toBeNull();
  });
});

describe('the addresses of a mail', () => {
  it('are those of From, To and Cc, groups resolved, duplicates left out', async () => {
    const mail = await parsed(
      'From: "Lovelace, Ada" <ada@example.org>\r\nTo: Team: a@x.org, B <b@x.org>;, undisclosed:;, A <a@x.org>\r\nCc: <c@x.org>\r\nTo: d@x.org\r\n\r\n',
    );
    expect(mail).toMatchObject({
      from: 'ada@example.org',
      fromName: 'Lovelace, Ada',
      to: ['a@x.org', 'b@x.org', 'd@x.org'],
      cc: ['c@x.org'],
    });
  });

  it('are kept if they are not valid, except where they are too long', async () => {
    const long = `${'a'.repeat(311)}@x.org`;
    const mail = await parsed(`From: root@localhost\r\nTo: x@y@z.org, ${long}aaa, ${long}aaaa\r\n\r\n`);
    expect(mail.from).toBe('root@localhost');
    expect(mail.to).toEqual(['x@y@z.org', `${long}aaa`]);
  });

  it('have a sender from Sender, Reply-To or Return-Path, or a name, if From has none', async () => {
    expect((await parsed('Sender: s@x.org\r\nReply-To: r@x.org\r\n\r\n')).from).toBe('s@x.org');
    expect((await parsed('From: <>\r\nReply-To: r@x.org\r\n\r\n')).from).toBe('r@x.org');
    expect((await parsed('Return-Path: <p@x.org>\r\n\r\n')).from).toBe('p@x.org');
    expect(await parsed('From: Hausmeister\r\n\r\n')).toMatchObject({ from: 'Hausmeister', fromName: 'Hausmeister' });
  });

  it('are at most 500', async () => {
    const list = Array.from({ length: 501 }, (_, index) => `a${index}@x.org`).join(',\r\n ');
    expect((await parsed(`${head}Cc: ${list}\r\n\r\n`)).cc).toHaveLength(500);
  });
});

describe('the headers of a mail', () => {
  it('name it, the messages that it answers, and its date', async () => {
    const mail = await parsed(
      `${head}Message-ID:\r\n <m@x>\r\nIn-Reply-To: <3@x>\r\nReferences: <1@x>\r\n <2@x> <3@x>\r\nDate: Thu, 22 Aug 2002 12:46:18 +0200\r\n\r\n`,
    );
    expect(mail).toMatchObject({ messageId: '<m@x>', answeredIds: ['<3@x>', '<2@x>', '<1@x>'], date: 1_030_013_178 });
    expect(await parsed(`${head}Date: yesterday\r\n\r\n`)).toMatchObject({
      messageId: null,
      answeredIds: [],
      date: null,
    });
  });

  it('make its digest with its parts, however it is transferred', async () => {
    const digest = async (mail: string) => (await parsed(bytesOf(mail, 'latin1'))).digest;
    const dated = `${head}Date: Thu, 22 Aug 2002 12:46:18 +0200\r\nSubject: a b\r\n`;
    const inLatin1 = 'Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding:';
    const plain = await digest(`${dated}${inLatin1} 8bit\r\n\r\nGr\xfc\xdfe\r\n`);
    for (const same of [
      `Received: x\r\n${dated}${inLatin1} quoted-printable\r\n\r\nGr=FC=DFe\r\n`,
      `${dated}${inLatin1} base64\r\n\r\nR3L832U=\r\n`,
      `${dated.replace('a b', 'a\r\n b')}${inLatin1} 8bit\r\n\r\nGr\xfc\xdfe\r\n\r\n`.replaceAll('\r\n', '\n'),
    ]) {
      expect(await digest(same)).toBe(plain);
    }
    for (const other of [
      `${dated}${inLatin1} 8bit\r\n\r\nGrosse\r\n`,
      `${dated.replace('a b', 'a c')}${inLatin1} 8bit\r\n\r\nGr\xfc\xdfe\r\n`,
      `${dated.replace(':18', ':19')}${inLatin1} 8bit\r\n\r\nGr\xfc\xdfe\r\n`,
    ]) {
      expect(await digest(other)).not.toBe(plain);
    }
    for (const date of ['', 'Date:\r\n', 'Date: 00/00/0000 00:00\r\n']) {
      const undated = `${head}${date}\r\na`;
      expect(await digest(undated)).toBe(await digest(undated));
      expect(await digest(`Received: x\r\n${undated}`)).not.toBe(await digest(undated));
    }
  });

  it('count Reply-To to the digest of a mail without an id, as forms write them', async () => {
    const digest = async (headers: string, replyTo: string) =>
      (await parsed(`${head}Date: Thu, 22 Aug 2002 12:46:18 +0200\r\n${headers}Reply-To: ${replyTo}\r\n\r\na`)).digest;
    expect(await digest('', 'ann@x.org')).not.toBe(await digest('', 'bob@x.org'));
    const id = 'Message-ID: <1@x.org>\r\n';
    expect(await digest(id, 'ann@x.org')).toBe(await digest(id, 'list@x.org'));
  });

  it('of a report name the mail that it is about, wherever the server has put it', async () => {
    const report = (type: string, content: string) =>
      multipart(
        `--b\r\n\r\nfailed\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nAction: failed\r\n--b\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`,
        'report',
      );
    const original = 'Subject: x\r\nMessage-ID:\r\n <sent@x>\r\n';
    for (const type of ['message/rfc822', 'text/rfc822-headers']) {
      expect((await parsed(report(type, `${original}\r\nMessage-ID: <body@x>`))).answeredIds).toEqual(['<sent@x>']);
    }
    expect((await parsed(report('text/x-other', original))).answeredIds).toEqual([]);
    const many = (count: number) =>
      `--b\r\nContent-Type: text/rfc822-headers\r\n\r\nMessage-ID: ${Array.from({ length: 100 }, (_, at) => `<${count}.${at}@x>`).join('')}\r\n`;
    expect((await parsed(multipart(many(1) + many(2), 'report'))).answeredIds).toHaveLength(200);
    expect((await parsed(multipart(many(1) + many(2) + many(3), 'report'))).answeredIds).toHaveLength(200);
    const forwarded = multipart(`--b\r\nContent-Type: message/rfc822\r\n\r\n${original}\r\nx\r\n`);
    expect((await parsed(forwarded)).answeredIds).toEqual([]);
  });

  it('are kept by lower-case names, several values as a list', async () => {
    const { headers } = await parsed(
      `${head}Received: one\r\nX-Key: a\r\n b\0c\r\nRECEIVED: two\r\n__proto__: x\r\nnot a name: y\r\nempty:\r\n\r\n`,
    );
    expect(headers).toMatchObject({ received: ['one', 'two'], 'x-key': 'a b c', empty: '' });
    expect(Object.hasOwn(headers, '__proto__')).toBe(true);
    expect(Object.keys(headers)).not.toContain('not a name');
  });

  it('are kept up to a limit for each and for all', async () => {
    const value = (length: number) => 'v'.repeat(length);
    const { headers } = await parsed(`${head}X-A: ${value(16_384)}\r\nX-B: ${value(16_385)}\r\n\r\n`);
    expect([headers['x-a']?.length, headers['x-b']?.length]).toEqual([16_384, 16_384]);
    const many = Array.from({ length: 20 }, (_, index) => `X-${index}: ${value(16_384)}`).join('\r\n');
    expect(Object.keys((await parsed(`${head}${many}\r\n\r\n`)).headers)).toHaveLength(17);
  });

  // guarantee: I11
  it('of more than 1 MiB are refused', async () => {
    const used = 'From: a@x.org\r\nX: \r\n\r\n'.length;
    const mail = (over: number) => `From: a@x.org\r\nX: ${'v'.repeat(mailLimits.headerBytes - used + over)}\r\n\r\n`;
    expect(await problemOf(mail(0))).toBeUndefined();
    expect(await problemOf(mail(1))).toEqual({ problem: 'The headers of the mail are too large.', isTooLarge: false });
  });
});

describe('the files of a mail', () => {
  it('are decoded, with their names in one line', async () => {
    const named =
      'Content-Type: application/pdf\r\nContent-Disposition: attachment; filename="=?utf-8?q?R=C3=BC=0D=0Ack.pdf?="';
    const { files } = await parsed(multipart(filePart('%PDF') + filePart('x', named)));
    expect(files.map(({ name, bytes, inline }) => [name, Buffer.from(bytes).toString(), inline])).toEqual([
      ['a.pdf', '%PDF', false],
      ['Rü ck.pdf', 'x', false],
    ]);
  });

  it('get a name if they have none', async () => {
    const message =
      '--b\r\nContent-Type: message/rfc822\r\nContent-Disposition: attachment\r\n\r\nFrom: a@b.de\r\n\r\nx\r\n';
    const event = filePart('BEGIN:VCALENDAR', 'Content-Type: text/calendar');
    const { files } = await parsed(
      multipart(
        message + event + filePart('x', 'Content-Type: image/png') + filePart('x', 'Content-Type: application/x-y'),
      ),
    );
    expect(files.map(({ name }) => name)).toEqual(['attachment.eml', 'attachment.ics', 'attachment.png', '']);
  });

  it('are inline if the HTML shows them', async () => {
    const image = (id: string) =>
      filePart('png', `Content-Type: image/png\r\nContent-ID: <${id}>\r\nContent-Disposition: inline`);
    const html = '--b\r\nContent-Type: text/html\r\n\r\n<img src="cid:one@x">\r\n';
    const { files } = await parsed(multipart(html + image('one@x') + image('two@x'), 'related'));
    expect(files.map(({ inline }) => inline)).toEqual([true, false]);
  });

  it('are those of a message within the mail too, whose text is in the body', async () => {
    const inner = `From: c@x.org\r\nSubject: inner\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\ninner text\r\n--c\r\nContent-Type: application/pdf; name=i.pdf\r\n\r\nx\r\n--c--\r\n`;
    const mail = await parsed(multipart(`--b\r\n\r\nouter\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n${inner}`));
    expect(mail.body).toMatch(/outer[\s\S]*inner text/);
    expect(mail.files.map(({ name }) => name)).toEqual(['i.pdf']);
  });

  // guarantee: I11
  it('are at most 100', async () => {
    const part = filePart('x');
    expect(await problemOf(multipart(part.repeat(100)))).toBeUndefined();
    expect(await problemOf(multipart(part.repeat(101)))).toMatchObject({
      problem: 'The mail has more than 100 files.',
    });
  });

  it('have at most 20 MiB each and 25 MiB together', async () => {
    const binary = (bytes: number) => `--b\r\nContent-Type: application/x\r\n\r\n${'x'.repeat(bytes)}\r\n`;
    const mib = 1024 * 1024;
    expect(await problemOf(multipart(binary(20 * mib) + binary(5 * mib)))).toBeUndefined();
    expect(await problemOf(multipart(binary(20 * mib + 1)))).toMatchObject({ isTooLarge: true });
    expect(await problemOf(multipart(binary(20 * mib) + binary(5 * mib + 1)))).toMatchObject({ isTooLarge: true });
  });
});

describe('a mail', () => {
  it('that is empty or has no sender is refused', async () => {
    expect(await problemOf('')).toMatchObject({ problem: 'The mail is empty.' });
    expect(await problemOf('\r\n\r\ntext')).toMatchObject({ problem: 'The mail is empty.' });
    expect(await problemOf('From: "" <>\r\nSubject: x\r\n\r\n')).toMatchObject({ problem: 'The mail has no sender.' });
    expect(await problemOf('mv 00001.aaa 00001.bbb\n')).toMatchObject({ problem: 'The mail has no sender.' });
  });

  // guarantee: I11
  it('is refused if its parts are nested deeper than 50', async () => {
    const nested = (depth: number) =>
      head +
      Array.from(
        { length: depth },
        (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`,
      ).join('') +
      '\r\nx';
    expect(await problemOf(nested(50))).toBeUndefined();
    expect(await problemOf(nested(51))).toEqual({
      problem: 'The parts of the mail are nested too deep.',
      isTooLarge: false,
    });
  });

  // guarantee: I11
  it('is refused beyond 40 MiB', async () => {
    const mail = Buffer.alloc(mailLimits.bytes + 1, 'x');
    mail.write('From: a@x.org\n\n');
    expect(await problemOf(mail.subarray(0, -1))).toBeUndefined();
    expect(await problemOf(mail)).toMatchObject({ isTooLarge: true });
  });
});

it('takes the text of a mail whose HTML is empty', async () => {
  const mail =
    'From: a@x.org\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\ntext\n--b\nContent-Type: text/html\n\n--b--';
  expect(await parseMail(Buffer.from(mail))).toMatchObject({ isHtml: false, body: 'text' });
});
