import { buffer } from 'node:stream/consumers';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import fc from 'fast-check';
import PostalMime, { type Email } from 'postal-mime';
import { describe, expect, test } from 'vitest';
import { type OutgoingMail, ticketTokens } from '../message/rules/outgoing-mail.ts';
import { type ComposeOptions, composeMail, mailPauseMs } from './attempt.ts';

const minute = 60_000;

test('attempts are 1 min, 5 min, 30 min, 2 h, 8 h and 24 h apart, then end', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7].map((attempts) => mailPauseMs(attempts, 0.5));
  expect(pauses).toEqual([...[1, 5, 30, 120, 480, 1440].map((minutes) => minutes * minute), undefined]);
});

test('a pause is up to a fifth shorter or longer', () => {
  expect(mailPauseMs(1, 0)).toBe(48_000);
  expect(mailPauseMs(1, 1)).toBe(72_000);
});

const tokens = ticketTokens(Buffer.alloc(32, 1));
const sender = { address: 'help@shop.example', name: 'Shop' };

const mail: OutgoingMail = {
  ...{
    id: 5,
    ticketId: 7,
    messageId: '<7.5.abc@shop.example>',
    references: [],
    subchannelId: 1,
    from: null,
    fromName: null,
  },
  ...{ to: ['kim@example.com'], cc: [], bcc: [], subject: 'Hello', text: 'Hi Kim', html: null, attachments: [] },
  ...{ queuedAt: 1_700_000_000, isAutomatic: false, attempts: 0, reached: [] },
};

function compose(changes: Partial<OutgoingMail>, options: Partial<ComposeOptions> = {}) {
  const recipients = ['kim@example.com'];
  const defaults = { sender, recipients, tokens, ticketFiles: [], openFile: () => fileOf('') };
  return composeMail({ ...mail, ...changes }, { ...defaults, ...options });
}

async function* fileOf(content: string | Uint8Array) {
  yield Buffer.from(content);
}

async function parsed(changes: Partial<OutgoingMail>, options?: Partial<ComposeOptions>): Promise<Email> {
  return PostalMime.parse(await buffer(compose(changes, options).open()));
}

const file = {
  ...{ id: 'aaaaaaaa', name: 'a.txt', contentType: 'text/plain', inline: false, size: 0, fileEnding: 'txt' },
  ...{ width: null, height: null, createdAt: 0, key: 'k' },
};
const headerNames = (email: Email) => email.headers.map(({ key }) => key).sort();
const usualHeaders = [
  ...['content-transfer-encoding', 'content-type', 'date', 'from', 'message-id', 'mime-version'],
  'x-ticketing-ticket',
];

test('a second parser reads the same mail: sender, recipients, subject, texts, times, references', async () => {
  const email = await parsed({
    to: ['kim@example.com', 'jo@münchen.example'],
    cc: ['lee@example.com'],
    bcc: ['boss@example.com'],
    subject: 'Größe und 価格 😀',
    text: 'Guten Tag,\n\nGröße: 7 €  \n.\n..\nFrom here on\n',
    html: '<p>Größe: <b>7 €</b></p>',
    references: ['<1@example.com>', '<2@example.com>'],
  });
  expect(email).toMatchObject({
    messageId: '<7.5.abc@shop.example>',
    date: '2023-11-14T22:13:20.000Z',
    from: { name: 'Shop', address: 'help@shop.example' },
    to: [{ address: 'kim@example.com' }, { address: expect.stringMatching(/^jo@(münchen|xn--mnchen-3ya)\.example$/) }],
    cc: [{ address: 'lee@example.com' }],
    subject: tokens.mark('Größe und 価格 😀', 7),
    inReplyTo: '<2@example.com>',
    references: '<1@example.com> <2@example.com>',
  });
  expect(email.text?.trimEnd()).toBe('Guten Tag,\n\nGröße: 7 €  \n.\n..\nFrom here on');
  expect(email.html?.trim()).toBe('<p>Größe: <b>7 €</b></p>');
});

test('blind copies are in the envelope only, and no header says that the mail is automatic', async () => {
  const composed = compose({ bcc: ['boss@example.com'] }, { recipients: ['kim@example.com', 'boss@example.com'] });
  const text = (await buffer(composed.open())).toString();
  expect(composed.envelope).toEqual({ from: 'help@shop.example', to: ['kim@example.com', 'boss@example.com'] });
  expect(text).not.toMatch(/boss/);
  expect(headerNames(await PostalMime.parse(text))).toEqual([...usualHeaders, 'subject', 'to'].sort());
});

test('a mail of a program says that it is automatic', async () => {
  const email = await parsed({ isAutomatic: true });
  expect(email.headers).toContainEqual(expect.objectContaining({ key: 'auto-submitted', value: 'auto-replied' }));
});

test('every attempt has the same bytes', async () => {
  const attachments = [file];
  const changes = { html: '<p>Hi</p>', attachments };
  const openFile = () => fileOf('content');
  const composed = compose(changes, { openFile });
  const first = await buffer(composed.open());
  expect((await buffer(composed.open())).equals(first)).toBe(true);
  expect((await buffer(compose(changes, { openFile }).open())).equals(first)).toBe(true);
});

test('attachments arrive byte by byte, with their names', async () => {
  const files = new Map([
    ['aaaaaaaa', seededBytes(300_001)],
    ['bbbbbbbb', Buffer.from('.\r\n\n.\n--=--\r\n\0')],
    ['cccccccc', Buffer.alloc(0)],
    ['dddddddd', Buffer.from('Subject: inner\r\n\r\ntext')],
  ]);
  const names = ['Rechnung Größe.pdf', 'a "b"\\;c.bin', 'leer.txt', 'mail.eml'];
  const types = ['application/pdf', 'application/octet-stream', 'text/plain', 'message/rfc822'];
  const attachments = [...files.keys()].map((id, index) => ({
    ...file,
    ...{ id, name: names[index] ?? '', contentType: types[index] ?? '' },
  }));
  const email = await parsed({ attachments }, { openFile: ({ id }) => fileOf(files.get(id) ?? '') });
  expect(email.attachments.map(({ filename }) => filename)).toEqual(names.map((name) => name.replace('\\', '_')));
  const contents = email.attachments.map(({ content }) => Buffer.from(content as ArrayBuffer));
  expect(contents.map((content, index) => content.equals([...files.values()][index] ?? Buffer.alloc(1)))).toEqual(
    Array(4).fill(true),
  );
  expect(email.attachments.every(({ disposition }) => disposition === 'attachment')).toBe(true);
});

test.each([
  ['ä /..\\x.txt', 'ä _.._x.txt'],
  ['/etc/passwd', '_etc_passwd'],
])('the name of a file, %s, is no path', async (name, expected) => {
  const { attachments } = await parsed({ attachments: [{ ...file, name }] });
  expect(attachments).toMatchObject([{ filename: expected }]);
});

test('a file that cannot be read fails the mail instead of shortening it', async () => {
  const attachments = [file];
  const openFile = async function* () {
    yield Buffer.alloc(1000);
    throw new Error('the store is unavailable');
  };
  await expect(buffer(compose({ attachments }, { openFile }).open())).rejects.toThrow('the store is unavailable');
});

const lineBreaks = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  '\u0085',
  '\u2028',
  '\u2029',
  '\v',
  '\f',
  '\r\n\r\n',
  '\n ',
  '%0d%0a',
  '=?utf-8?Q?=0D=0A?=',
];

// guarantee: I10
// asvs: 1.3.11
test.each(lineBreaks)('no text adds a header by %j', async (lineBreak) => {
  const hostile = `x${lineBreak}Bcc: evil@example.com${lineBreak}X-Evil: 1${lineBreak}${lineBreak}body`;
  const attachments = [{ ...file, name: hostile }];
  const address = `kim@example.com${lineBreak}bcc:evil@example.com`;
  const email = await parsed(
    { subject: hostile, fromName: hostile, to: [address, 'kim@example.com'], cc: [address], attachments },
    { sender: { address: 'help@shop.example', name: hostile } },
  );
  expect(headerNames(email)).toEqual(
    [...usualHeaders.filter((name) => name !== 'content-transfer-encoding'), 'subject', 'to'].sort(),
  );
  expect(email.to).toEqual([{ name: '', address: 'kim@example.com' }]);
  expect(email.attachments).toHaveLength(1);
  expect(email.text?.trim()).toBe('Hi Kim');
});

// guarantee: I10
// asvs: 1.3.11
test('no address smuggles in another one', async () => {
  const hostile = [
    'a@b.example,evil@c.example',
    '<evil@c.example>',
    'x <evil@c.example>',
    '"a b"@c.example',
    'a@b.example>',
    'a@[127.0.0.1]',
    'no address',
    '',
  ];
  const email = await parsed({ to: [...hostile, 'kim@example.com'], cc: hostile });
  expect(email.to).toEqual([{ name: '', address: 'kim@example.com' }]);
  expect(headerNames(email)).not.toContain('cc');
});

test('subjects, names, texts and names of files of any characters arrive', async () => {
  const text = fc
    .string({ unit: 'grapheme', maxLength: 300 })
    .map((value) => value.replace(/[\p{Cc}\u2028\u2029]/gu, ''));
  await fc.assert(
    fc.asyncProperty(text, text, fc.string({ unit: 'grapheme', maxLength: 3000 }), async (subject, name, body) => {
      const attachments = [{ ...file, name: `${name}.txt` }];
      const normalBody = body.replace(/\r/g, '');
      const email = await parsed({ subject, text: normalBody, attachments }, { sender: { ...sender, name } });
      expect(tokens.find(email.subject ?? '')).toBe(7);
      expect(email.subject).toBe(tokens.mark(subject, 7));
      expect(email.from?.name?.trim()).toBe(name.trim());
      expect(email.attachments[0]?.filename).toBe(`${name.replace(/[/\\]/g, '_')}.txt`);
      expect(email.text?.trimEnd() ?? '').toBe(normalBody.trimEnd());
    }),
    { numRuns: 100 },
  );
});

test.each(['=?utf-8?q?=0d=0aBcc:_x@y.de?=', 'Is =?utf-8?b?eA==?= right?', `${'x '.repeat(200)}=?a?q?b?=`])(
  'a subject that looks encoded, %s, arrives as it was written',
  async (subject) => {
    expect((await parsed({ subject })).subject).toBe(tokens.mark(subject, 7));
  },
);

test('no line is longer than mail servers take, whatever the text', async () => {
  const long = 'x'.repeat(5000);
  const attachments = [{ ...file, name: `${'n'.repeat(300)}.txt` }];
  const references = Array.from({ length: 20 }, (_, index) => `<${'r'.repeat(200)}${index}@example.com>`);
  const to = Array.from({ length: 500 }, (_, index) => `person${index}@example.com`);
  const changes = { subject: 'y'.repeat(998), text: long, html: `<p>${long}</p>`, attachments, references, to };
  const bytes = await buffer(compose(changes).open());
  expect(
    Math.max(
      ...bytes
        .toString()
        .split('\r\n')
        .map(({ length }) => length),
    ),
  ).toBeLessThanOrEqual(998);
  const email = await PostalMime.parse(bytes);
  expect(email.text?.trim()).toBe(long);
  expect(email.references).toBe(references.join(' '));
  expect(email.to).toHaveLength(500);
});

test.each(['\n', '=', 'ä', ' ', '\r', 'x ', '\r\n', '😀'])('a text and a file of 1 MiB of %j arrive', async (unit) => {
  const text = unit.repeat(1024 * 1024);
  const email = await parsed({ text: `>${text}<`, attachments: [file] }, { openFile: () => fileOf(text) });
  const bytes = await buffer(compose({ text }).open());
  expect(/(^|[^\r])\n|\r(?!\n)/.test(bytes.toString())).toBe(false);
  const normal = (value = '') => value.replace(/\r\n?|\n/g, '\n').trim();
  expect(normal(email.text) === normal(`>${text}<`)).toBe(true);
  expect(Buffer.from(email.attachments[0]?.content as ArrayBuffer).equals(Buffer.from(text))).toBe(true);
});

describe('the images that a text shows are inline parts:', () => {
  const image = (id: string, changed = {}) => ({
    ...file,
    id,
    key: id,
    name: `${id}.png`,
    contentType: 'image/png',
    ...changed,
  });
  const sent = async (
    html: string,
    changes: Partial<OutgoingMail> = {},
    ticketFiles: ComposeOptions['ticketFiles'] = [],
  ) => {
    const email = await parsed({ html, ...changes }, { ticketFiles, openFile: ({ id }) => fileOf(id) });
    const parts = email.attachments.map(({ contentId, filename, mimeType, disposition, content, related }) => ({
      ...{ contentId, filename, mimeType, disposition, related: related === true },
      text: Buffer.from(content as ArrayBuffer).toString(),
    }));
    return { html: email.html, parts };
  };
  const part = { mimeType: 'image/png', disposition: 'inline', related: true };
  const url = (nth: number) => `cid:image${nth}.7.5.abc@shop.example`;
  const id = (nth: number) => `<image${nth}.7.5.abc@shop.example>`;

  test('a pasted one, once however often it is shown', async () => {
    const pasted = '<img alt="a" src="data:image/png;base64,aGV5" />';
    const { html, parts } = await sent(`<p>Hi</p>${pasted}${pasted}`);
    expect(html).toBe(`<p>Hi</p><img alt="a" src="${url(1)}" /><img alt="a" src="${url(1)}" />\n`);
    expect(parts).toEqual([{ ...part, contentId: id(1), filename: 'image1.png', text: 'hey' }]);
  });

  test('a file of the ticket, as a quote of a mail names it, beside the files of the message', async () => {
    const quote =
      '<blockquote><img src="/ticket/7/attachment/bbbbbbbb" /><img src="/ticket/7/attachment/cccccccc" /></blockquote>';
    const files = [image('bbbbbbbb'), image('cccccccc', { contentId: 'c@x' })];
    const { html, parts } = await sent(quote, { attachments: [file] }, files);
    expect(html).toBe(`<blockquote><img src="${url(1)}" /><img src="${url(2)}" /></blockquote>\n`);
    expect(parts.map(({ contentId, text, related }) => [contentId, text, related])).toEqual([
      [id(1), 'bbbbbbbb', true],
      [id(2), 'cccccccc', true],
      [undefined, 'aaaaaaaa', false],
    ]);
  });

  test('a file of the message itself, which is then sent once', async () => {
    const attachments = [image('bbbbbbbb')];
    const { parts } = await sent('<img src="/ticket/7/attachment/bbbbbbbb" />', { attachments }, [image('bbbbbbbb')]);
    expect(parts).toEqual([{ ...part, contentId: id(1), filename: 'bbbbbbbb.png', text: 'bbbbbbbb' }]);
  });

  test.each([
    ['a file of another ticket', '/ticket/8/attachment/bbbbbbbb', [image('bbbbbbbb')]],
    ['a file that is gone', '/ticket/7/attachment/cccccccc', [image('bbbbbbbb')]],
    [
      'a file that is no image',
      '/ticket/7/attachment/bbbbbbbb',
      [image('bbbbbbbb', { contentType: 'application/pdf' })],
    ],
    ['a file without room', '/ticket/7/attachment/bbbbbbbb', [image('bbbbbbbb', { size: 25 * 1024 * 1024 + 1 })]],
    ['a file of a template', '/template/7/attachment/bbbbbbbb', []],
  ])('but not %s, whose path means nothing to the recipient', async (_name, source, files) => {
    expect(await sent(`<img src="${source}" />`, {}, files)).toEqual({ html: '<img src="" />\n', parts: [] });
  });

  test('and not one on the web', async () => {
    const html = '<img src="https://example.org/a.png" />';
    expect(await sent(html)).toEqual({ html: `${html}\n`, parts: [] });
  });

  test('and not one that a quoted stranger names by its id', async () => {
    const files = [image('cccccccc', { contentId: 'c@x' })];
    expect(await sent('<img src="cid:c@x" />', {}, files)).toEqual({ html: '<img src="" />\n', parts: [] });
  });
});
