import { createLogger } from '@ticketing/runtime/logger.ts';
import { withinCpuTime, withoutBlocking } from '@ticketing/testkit/machine-limits.ts';
import { afterEach, expect, it } from 'vitest';
import { mailLimits } from './mail.ts';
import { type MailReader, openMailReader } from './reader.ts';

const opened: MailReader[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((reader) => reader.close()));
});

function open(...limits: Parameters<typeof openMailReader> extends [unknown, ...infer Rest] ? Rest : never) {
  const reader = openMailReader(createLogger('test', 'silent'), ...limits);
  opened.push(reader);
  return reader;
}

const head = 'From: a@x.org\r\n';
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));

it('reads mails of up to 8 KiB and 250 lines at once, and all others in a worker', async () => {
  let runs = 0;
  const count = async () => {
    runs += 1;
    return { problem: 'elsewhere', isTooLarge: false };
  };
  const reader = open({}, () => ({ run: count as never, close: async () => undefined }));
  const isReadAtOnce = async (text: string) => {
    const before = runs;
    await reader.read('someone', bytesOf(text));
    return runs === before;
  };
  const filled = (bytes: number) => `${head}\r\n`.padEnd(bytes, 'x');
  expect(await isReadAtOnce(filled(8 * 1024))).toBe(true);
  expect(await isReadAtOnce(filled(8 * 1024 + 1))).toBe(false);
  const lines = (count: number) => `${head}\r\n`.padEnd(head.length + count, '\n');
  expect(await isReadAtOnce(lines(250))).toBe(true);
  expect(await isReadAtOnce(lines(251))).toBe(false);
});

const part = (type: string, body: string) => `--b\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`;
const mixed = `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n`;
const digest = `${head}Content-Type: multipart/digest; boundary=d\r\n\r\n--d\r\n\r\n`;
const withHtml = (html: string) =>
  `${mixed}${part('text/plain', 'a')}${part('text/html', html)}${part('text/plain', 'b')}`;

it.each([
  ['links that do not end', withHtml('<a href="'.repeat(800))],
  ['addresses of a link', withHtml(`<a ${'href='.repeat(1500)}`)],
  ['a message with such a link', `${digest}${withHtml(`<a ${'href='.repeat(1500)}`)}`],
  ['line breaks', `${head}\r\n${'\n'.repeat(245)}`],
  ['parts', `${mixed}${'--b\n'.repeat(240)}`],
  [
    'messages with addresses in no charset',
    `${head}Content-Type: multipart/digest; boundary=b\r\n\r\n${`--b\n\nTo:${'\xff,'.repeat(40)}\n`.repeat(80)}`,
  ],
  ['groups of addresses', `${head}To: ${'a:b;c,'.repeat(1300)}\r\n\r\nx`],
])('does not block other requests while it reads a small mail of %s', async (_shape, text) => {
  const raw = new Uint8Array(Buffer.from(text, 'latin1'));
  expect(raw.length).toBeLessThanOrEqual(8 * 1024);
  const elsewhere = () => expect.unreachable();
  const reader = open({}, () => ({ run: elsewhere as never, close: async () => undefined }));
  await withinCpuTime(50, () => reader.read('someone', raw));
});

it('does not block other requests while it reads mails of 60 KB of links that do not end', async () => {
  const reader = open();
  const mail = bytesOf(withHtml('<a href="'.repeat(6_600)));
  const readAll = () => Promise.all(Array.from({ length: 20 }, () => reader.read('someone', mail)));
  await readAll();
  await withoutBlocking(50, readAll);
});

it('returns the same from a worker', async () => {
  const reader = open();
  const part = `--b\r\nContent-Type: application/pdf; name=ä.pdf\r\n\r\n${'%PDF\n'.repeat(3000)}`;
  const mail = bytesOf(`${head}Subject: Zähler\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${part}--b--`);
  const { parseMail } = await import('./parse.ts');
  expect(await reader.read('someone', mail)).toEqual(await parseMail(mail));
  const nested = bytesOf(`${head}Content-Type: message/rfc822\r\n\r\nFrom: b@x.org\r\n\r\ninner`);
  expect(await reader.read('someone', nested)).toMatchObject({ body: expect.stringContaining('inner') });
  expect(await reader.read('someone', bytesOf('x\n'.repeat(3000)))).toMatchObject({ problem: expect.any(String) });
});

// guarantee: I11
it('refuses a mail that needs too much memory, and reads the next one', async () => {
  const reader = open({ maxHeapMb: 32 });
  const hostile = bytesOf(`${head}\r\n${'\r\n'.repeat(16 * 1024 * 1024)}`);
  expect(await reader.read('someone', hostile)).toEqual({
    problem: 'The mail takes too much work to read.',
    isTooLarge: false,
  });
  expect(await reader.read('someone', bytesOf(`${head}\r\n${'x\n'.repeat(3000)}`))).toMatchObject({ from: 'a@x.org' });
});

// guarantee: I11
it('does not block other requests while it reads the largest mail', async () => {
  const reader = open();
  await reader.read('someone', bytesOf(`${head}\r\n${'x\n'.repeat(3000)}`));
  const line = `${'A'.repeat(76)}\r\n`;
  const part = `--b\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${line.repeat(200_000)}`;
  const mail = bytesOf(`${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${part}${part}--b--`);
  expect(mail.length).toBeLessThan(mailLimits.bytes);
  const content = await withoutBlocking(100, () => reader.read('someone', mail));
  expect(content).toMatchObject({ files: [expect.anything(), expect.anything()] });
});
