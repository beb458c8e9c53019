import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { afterEach, expect, it } from 'vitest';
import { mailLimits } from './mail-limits.ts';
import { type MailReader, openMailReader } from './mail-reader.ts';

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

it('reads small mails at once, and large ones, of many lines, or with messages in them, in a worker', async () => {
  // A worker that cannot finish in time tells which mails it gets.
  const reader = open({ timeoutMs: 1 });
  const isReadAtOnce = async (text: string) => !('problem' in (await reader.read('someone', bytesOf(text))));
  expect(await isReadAtOnce(`${head}\r\n${'x'.repeat(64 * 1024 - head.length - 2)}`)).toBe(true);
  expect(await isReadAtOnce(`${head}\r\n${'x\n'.repeat(1998)}`)).toBe(true);
  expect(await isReadAtOnce(`${head}\r\n${'x\n'.repeat(400_000)}`)).toBe(false);
}, 60_000);

it('returns the same from a worker', async () => {
  const reader = open();
  const part = `--b\r\nContent-Type: application/pdf; name=ä.pdf\r\n\r\n${'%PDF\n'.repeat(3000)}`;
  const mail = bytesOf(`${head}Subject: Zähler\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${part}--b--`);
  const { parseMail } = await import('./parse-mail.ts');
  expect(await reader.read('someone', mail)).toEqual(await parseMail(mail));
  const nested = bytesOf(`${head}Content-Type: message/rfc822\r\n\r\nFrom: b@x.org\r\n\r\ninner`);
  expect(await reader.read('someone', nested)).toMatchObject({ body: expect.stringContaining('inner') });
  expect(await reader.read('someone', bytesOf('x\n'.repeat(3000)))).toMatchObject({ problem: expect.any(String) });
}, 60_000);

it('refuses a mail that needs too much memory, and reads the next one', async () => {
  const reader = open({ maxHeapMb: 64 });
  const hostile = bytesOf(`${head}\r\n${'\n'.repeat(4 * 1024 * 1024)}`);
  expect(await reader.read('someone', hostile)).toEqual({
    problem: 'The mail takes too much work to read.',
    isTooLarge: false,
  });
  expect(await reader.read('someone', bytesOf(`${head}\r\n${'x\n'.repeat(3000)}`))).toMatchObject({ from: 'a@x.org' });
}, 60_000);

it('does not block other requests while it reads the largest mail', async () => {
  const reader = open();
  await reader.read('someone', bytesOf(`${head}\r\n${'x\n'.repeat(3000)}`));
  const line = `${'A'.repeat(76)}\r\n`;
  const part = `--b\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${line.repeat(200_000)}`;
  const mail = bytesOf(`${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${part}${part}--b--`);
  expect(mail.length).toBeLessThan(mailLimits.bytes);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  expect(await reader.read('someone', mail)).toMatchObject({ files: [expect.anything(), expect.anything()] });
  delay.disable();
  // Half of the time is usual; on a busy machine, the operating system stops this process as well.
  expect(delay.percentile(50) / 1e6).toBeLessThan(50);
}, 60_000);
