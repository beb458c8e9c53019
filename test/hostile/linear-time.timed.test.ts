import { create } from '@bufbuild/protobuf';
import { UpdateConversationRequestSchema } from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { sanitiseHtml } from '@ticketing/html/sanitise-html.ts';
import { messageValidator } from '@ticketing/rest/codec/rules.ts';
import { chooseAccepted } from '@ticketing/rest/routes/media-types.ts';
import { prefers } from '@ticketing/rest/routes/prefer.ts';
import { withinCpuTime, withinLinearTime } from '@ticketing/testkit/machine-limits.ts';
import { splitWords } from '@ticketing/text/words.ts';
import { describe, expect, it, test } from 'vitest';
import { looksLikeFormula, withoutFormulas } from '../../services/reporting/src/export/formula.ts';
import { mentionsIn } from '../../services/tickets/src/customer/rules/identify.ts';
import { connectImages } from '../../services/tickets/src/inbound-mail/mail-images.ts';
import { messageIds } from '../../services/tickets/src/inbound-mail/message-ids.ts';
import { parseMail } from '../../services/tickets/src/inbound-mail/parse.ts';
import { addressViolations } from '../../services/tickets/src/rules/mail-headers.ts';
import { cleanBody, mailText, plainBody } from '../../services/tickets/src/text/rules/body-text.ts';
import { replaceSources } from '../../services/tickets/src/text/rules/content-urls.ts';
import { readDocument } from '../../tools/import-knowledge/read-document.ts';

it.each([
  '<',
  '<b>',
  '</b>',
  '<b></i>',
  '<p>',
  '<a ',
  '<a =',
  '<a href="',
  '<!--',
  '<script>',
  '<script></script>',
  '<iframe>',
  '<noscript>',
  '<p style="color:red;">',
  '<table><td>',
  '&amp;',
  '=',
  ' ',
  // guarantee: H5
])('sanitiseHtml takes linear time for many %j', async (unit) => {
  await withinLinearTime(unit, (body) => sanitiseHtml(`<p>${body}`));
});

test.each([
  ['an address of one long label', { to: [`a@${'a'.repeat(50_000)}`] }],
  ['an address of many labels', { to: [`a@${'a.'.repeat(25_000)}`] }],
  ['an address of many dots', { to: [`${'a.'.repeat(25_000)}`] }],
  ['an address of hyphens', { to: [`a@a${'-'.repeat(50_000)}`] }],
  ['a URL of many users', { attachments: [{ url: `http://${'a:@'.repeat(16_000)}` }] }],
  ['a URL of many numbers', { attachments: [{ url: `http://${'1.'.repeat(25_000)}^` }] }],
  ['a URL of many colons', { attachments: [{ url: `http://[${':'.repeat(50_000)}` }] }],
  ['a URL of many slashes', { attachments: [{ url: `a:${'/'.repeat(50_000)} ` }] }],
])('rules of the contract check %s in linear time', async (_, init) => {
  const message = create(UpdateConversationRequestSchema, { ticketId: 1, conversationId: 1, ...init });
  const violations = await withinCpuTime(200, () => messageValidator(UpdateConversationRequestSchema)(message));
  expect(violations.length).toBeGreaterThan(0);
});

test('a long Accept header takes linear time', async () => {
  const types = [{ mediaTypes: ['application/json'] }, { mediaTypes: ['text/event-stream'] }];
  const headers = [
    'a/b;q=0.1,'.repeat(1600),
    `text/event-stream${';'.repeat(16_000)}`,
    `text/event-stream;x="${'\\'.repeat(16_000)}`,
  ];
  for (const accept of headers) await withinCpuTime(200, () => chooseAccepted(types, accept));
});

test('a hostile Prefer header takes linear time', async () => {
  const header = '"\\'.repeat(500_000);
  expect(await withinCpuTime(1000, () => prefers(header, 'respond-async'))).toBe(false);
});

test('splitWords takes linear time', async () => {
  for (const text of ['\u0301'.repeat(50_000), '@.'.repeat(25_000), 'ﷺ'.repeat(50_000)]) {
    await withinCpuTime(1000, () => splitWords([text]));
  }
});

test('looksLikeFormula takes linear time for hostile texts', async () => {
  for (const blank of [' ', '\n', '\u200b', ' \ufeff', ';', ', ']) {
    const text = `${blank.repeat(1_000_000)}x`;
    await withinCpuTime(1000, () => looksLikeFormula(text));
  }
});

test('withoutFormulas takes linear time for hostile texts', async () => {
  for (const blank of [' ', '\n', '\u200b', ' \ufeff', ';', ', ', '=', ';=', ' =', '"']) {
    const text = `x${blank.repeat(1_000_000)}=`;
    await withinCpuTime(2000, () => withoutFormulas(text));
  }
});

it.each(['1-1-1-1-1 ', '1-', 'str ', '\ufdfa', '1.a/', '٣', 'é\u0301'.repeat(5)])(
  'mentionsIn takes linear time for a text of "%s"',
  async (part) => {
    const text = part.repeat(50_000 / part.length);
    await withinCpuTime(500, () => mentionsIn([text, text]).hasWords(text.slice(0, 320)));
  },
);

test('messageIds takes linear time for hostile headers', async () => {
  for (const piece of ['<', '>', '<>', '< >', '<a', 'a>']) {
    const hostile = piece.repeat(500_000);
    expect(await withinCpuTime(1000, () => messageIds(hostile))).toEqual([]);
  }
});

it.each(['<a href="', 'href=', '<a ', '<li> ', '<!--', '&a'])(
  'parseMail takes linear time for a body of %j',
  async (unit) => {
    const part = (type: string, body: string) => `--b\nContent-Type: ${type}\n\n${body}\n`;
    const head = 'From: a@x.org\nContent-Type: multipart/mixed; boundary=b\n\n';
    await withinLinearTime(unit, async (text) => {
      const mail = `${head}${part('text/plain', 'a')}${part('text/html', `<a ${text}`)}${part('text/plain', 'b')}--b--`;
      expect(await parseMail(Buffer.from(mail))).toMatchObject({
        isHtml: true,
        body: expect.stringContaining('<div>b'),
      });
    });
  },
);

describe.each([
  ['plainBody', plainBody],
  ['cleanBody', cleanBody],
])('%s', (_name, run) => {
  it.each([
    '<',
    '<p',
    'On ',
    'On a\n',
    'On 1:11 wrote\n',
    'Am 1:11 schrieb ',
    'schrieb am 1 ',
    'ich geschrieben ',
    'From: a\n',
    'Von: a\nGesendet: b\n',
    'wrote:\n',
    '> ',
    '>',
    '-----',
    '-----\n',
    '--\n',
    '\n',
    '\r',
    ' ',
    ' \n',
    '\t',
    '\u200c ',
    'LG ',
    'Regards\n',
    'PS \n',
    '0000from<',
    'Op schreef\n',
    'This email is confidential ',
    'De: a\n',
    'Sent from my iPhone, \n',
    '12.03.2024 10:15 a@b:\n',
    'Thanks\n',
    `${'-'.repeat(290)}\n`,
  ])('takes linear time for many %j, as text and in HTML', async (unit) => {
    await withinLinearTime(unit, run);
    await withinLinearTime(unit, (body) => run(`<p>a</p>${body}`));
  });

  it.each(['<p>', '<b>', '</b>', '<b></i>', '<br>', '<ul><li>', '<table><tr><td>', '<pre>', '<blockquote>', '&amp;'])(
    'takes linear time for many %j',
    async (unit) => {
      await withinLinearTime(unit, run);
    },
  );
});

it.each([
  '<img ',
  '<img src=',
  '<img src="',
  "<img src='",
  '<img src=" ',
  '<img src',
  ' ',
  'src ',
  'cid:',
  '<td background="cid:a">',
])('the images of a mail are connected in linear time for many %j', async (unit) => {
  const file = { contentId: 'a', location: 'b', bytes: new Uint8Array(1) };
  await withinLinearTime(unit, (html) => connectImages(`<img ${html}`, [file], { maxBytes: 5_000_000, embeds: true }));
});

it.each([
  '<img src="cid:a" />',
  '<img alt=" src=" />',
  '<img ',
  ' src="',
  '<ol><li>a</li></ol>',
  '<a href="https://a.de">b</a>',
  '<ol><li>',
])('the HTML of an outgoing mail takes linear time for many %j', async (unit) => {
  await withinLinearTime(unit, (html) => replaceSources(html, () => 'x'));
  await withinLinearTime(unit, mailText);
});

test('an address of an e-mail is checked in linear time', async () => {
  const mail = { channel: Channel.EMAIL, direction: Direction.IN, to: [], cc: [], bcc: [] };
  for (const hostile of ['@a.'.repeat(20_000), `a@${'a.'.repeat(30_000)}@`, `${'a'.repeat(60_000)}@`]) {
    await withinCpuTime(200, () => addressViolations({ ...mail, from: hostile }));
  }
});

test.each([
  ['spaces', (length: number) => `# a${' '.repeat(length)}b`],
  ['spaces before a line separator', (length: number) => `# a${' '.repeat(length)}\u2028b`],
  ['number signs', (length: number) => `# a${' #'.repeat(length / 2)}b`],
])('a heading with many %s takes linear time', async (_name, contentOf) => {
  const content = contentOf(1024 * 1024);
  await withinCpuTime(2_000, () => readDocument(content, 'markdown', 'a.md'));
});
