import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type MailFile, readMailFile } from './mail-file.ts';
import { orderMails } from './mail-order.ts';

const mail = (path: string, answers: string[] = [], messageId: string | undefined = `<${path}>`): MailFile => ({
  path,
  messageId,
  answers: answers.map((id) => `<${id}>`),
});

const toOrder = (files: MailFile[]) => {
  const ordered = orderMails(files);
  return ordered.map(({ file, after }) => [file.path, ...after.map((index) => ordered[index]?.file.path)]);
};

test('a mail comes after those that it answers, and waits for them', () => {
  expect(toOrder([mail('c', ['a', 'b']), mail('b', ['a']), mail('x'), mail('a', ['missing'])])).toEqual([
    ['a'],
    ['b', 'a'],
    ['c', 'a', 'b'],
    ['x'],
  ]);
});

test('mails that answer each other or themselves, and repeated ids, are each there once', () => {
  expect(toOrder([mail('a', ['b']), mail('b', ['a']), mail('c', ['c'])])).toEqual([['b'], ['a', 'b'], ['c']]);
  const copies = [mail('1', [], '<same>'), mail('2', [], '<same>'), mail('3', [], undefined), mail('4', ['same'])];
  expect(toOrder(copies)).toEqual([['1'], ['2'], ['3'], ['4', '1']]);
});

test('a chain of 100,000 answers is ordered without recursion', () => {
  const chain = Array.from({ length: 100_000 }, (_, index) => mail(String(index), [String(index + 1)]));
  const ordered = orderMails(chain);
  expect(ordered).toHaveLength(100_000);
  expect(ordered[0]?.file.path).toBe('99999');
});

test('what a mail answers is read from its headers, folded or not, and from the parts of a report', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mail-order-'));
  const read = async (text: string) => {
    writeFileSync(join(folder, 'mail'), text);
    const { messageId, answers } = await readMailFile(join(folder, 'mail'));
    return [messageId, ...answers];
  };
  const body = '\nMessage-ID: <part@x>\n\nReferences: <body@x>\n';
  expect(await read(`Message-Id:\n <a@x>\nREFERENCES: <1@x>\r\n\t<2@x>\nIn-Reply-To: yours of <3@x>\n${body}`)).toEqual(
    [...['<a@x>', '<1@x>', '<2@x>', '<3@x>']],
  );
  expect(await read(`Message-ID: a@x\n${body}`)).toEqual(['<a@x>']);
  expect(await read(`Content-Type: multipart/report; boundary=b\n${body}`)).toEqual([undefined, '<part@x>']);
  expect(await read('no mail')).toEqual([undefined]);
  rmSync(folder, { recursive: true });
});
