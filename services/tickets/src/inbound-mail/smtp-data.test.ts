import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { withinCpuTime } from '@ticketing/testkit/machine-limits.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import fc from 'fast-check';
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { expect, it } from 'vitest';
import { DotUnescaper, feedDataStream } from './smtp-data.ts';

/** Parses chunks as smtp-server does, or with another method. Returns the content of the mail, and the commands after it. */
async function parse(chunks: readonly string[], feed?: typeof feedDataStream) {
  const parser = new SMTPStream();
  if (feed) parser._feedDataStream = feed;
  const commands: string[] = [];
  parser.oncommand = (command, next) => {
    commands.push(command.toString('latin1'));
    next?.();
  };
  const content = buffer(parser.startDataMode());
  void content.then(() => parser.continue());
  const bytes = chunks.filter((chunk) => chunk !== '').map((chunk) => Buffer.from(chunk, 'latin1'));
  await new Promise((resolve, reject) => Readable.from(bytes).pipe(parser).on('finish', resolve).on('error', reject));
  return { content: (await content).toString('latin1'), commands };
}

const end = '\r\n.\r\nNOOP\r\n';

it('reads mails as smtp-server does, however they are cut into chunks', async () => {
  const piece = fc.array(fc.constantFrom('\r\n', '\n', '\r', '.', '..', '\r\n.', '\r\n.\r\n', 'x'), { maxLength: 6 });
  const chunks = fc.array(
    piece.map((parts) => parts.join('')),
    { maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(chunks, async (list) => {
      // smtp-server keeps both dots of a mail that begins with a bare line feed and two dots.
      fc.pre(!list.join('').startsWith('\n'));
      const mail = [...list, end];
      expect(await parse(mail, feedDataStream)).toEqual(await parse(mail));
    }),
    { numRuns: runs(300, 20_000) },
  );
});

it.each([
  ['..\r\n...\r\n.x', '.\r\n..\r\n.x\r\n'],
  ['a\n..b\n.\r\nc', 'a\n.b\n.\r\nc\r\n'],
  ['\r\n\r.\r\n\r\n.\rx', '\r\n\r.\r\n\r\n.\rx\r\n'],
  ['', '\r\n'],
])('reads %j as %j, byte by byte', async (mail, content) => {
  expect(await parse([...`${mail}${end}`], feedDataStream)).toEqual({ content, commands: ['NOOP'] });
  expect(await parse([`${mail}${end}`], feedDataStream)).toEqual({ content, commands: ['NOOP'] });
});

it('ends a mail without content at its first dot', async () => {
  expect(await parse(['.', '\r', '\nNOOP\r\n'], feedDataStream)).toEqual({ content: '', commands: ['NOOP'] });
});

it('unescapes 2 MiB of lines that are a dot in less than 100 ms', async () => {
  const chunk = Buffer.from('..\r\n'.repeat(512 * 1024));
  const { content } = await withinCpuTime(100, () => new DotUnescaper().read(chunk));
  expect(content).toHaveLength((chunk.length / 4) * 3);
});
