import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ComposedMail, folderTransport } from './transport.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mails-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const never = new AbortController().signal;
const mail = (text: string, messageId = '<msg_1@shop.example>'): ComposedMail => ({
  messageId,
  envelope: { from: 'help@shop.example', to: ['kim@example.com'] },
  open: () => Readable.from([Buffer.from(text)]),
});

test('a mail is one file, however often it is sent', async () => {
  const transport = folderTransport(join(folder, 'new', 'mails'));
  const accepted = { accepted: ['kim@example.com'], deferred: [], refused: [], error: null };
  expect(await transport.send(mail('first'), never)).toEqual(accepted);
  expect(await transport.send(mail('second'), never)).toEqual(accepted);
  expect(readdirSync(join(folder, 'new', 'mails'))).toEqual(['msg_1@shop.example.eml']);
  expect(readFileSync(join(folder, 'new', 'mails', 'msg_1@shop.example.eml'), 'utf8')).toBe('second');
});

test('a Message-ID never names a file elsewhere', async () => {
  const transport = folderTransport(folder);
  const ids = ['<../../x@y>', '</etc/x@y>', '<.x@y>', '<a\0b@y>', `<${'a'.repeat(300)}@y>`, '<Ä@y>'];
  for (const id of ids) await transport.send(mail('text', id), never);
  expect(readdirSync(folder).every((name) => /^[0-9a-f]{64}\.eml$/.test(name))).toBe(true);
  expect(readdirSync(folder)).toHaveLength(ids.length);
});

test('a mail that cannot be read to its end leaves no file, and is deferred', async () => {
  const broken = async function* () {
    yield Buffer.from('text');
    throw new Error('the store is unavailable');
  };
  const outcome = await folderTransport(folder).send({ ...mail(''), open: () => Readable.from(broken()) }, never);
  expect(outcome).toMatchObject({ deferred: ['kim@example.com'], error: 'the store is unavailable' });
  expect(readdirSync(folder)).toEqual([]);
});

test('a folder that cannot be written defers the mail', async () => {
  writeFileSync(join(folder, 'file'), '');
  const outcome = await folderTransport(join(folder, 'file')).send(mail('text'), never);
  expect(outcome).toMatchObject({ accepted: [], deferred: ['kim@example.com'] });
});

test('an aborted attempt fails with the reason of the signal', async () => {
  const stopping = new AbortController();
  const hanging = new Readable({ read: () => undefined });
  const sent = folderTransport(folder).send({ ...mail(''), open: () => hanging }, stopping.signal);
  stopping.abort(new Error('stopping'));
  await expect(sent).rejects.toThrow('stopping');
});
