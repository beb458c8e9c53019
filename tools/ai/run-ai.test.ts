import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { syntheticTickets } from '../../services/intents/test/synthetic-tickets.ts';
import { command } from '../cli/ai.ts';

async function run(...args: string[]) {
  const printed: string[] = [];
  const errors: string[] = [];
  const streams = {
    env: {},
    print: (text: string) => printed.push(text),
    printError: (text: string) => errors.push(text),
  };
  return { code: await command(args, streams), text: printed.join('\n'), errors: errors.join('\n') };
}

function temporaryFile(name: string, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-ai-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const header = 'subject,body,queue,language,tag_1';

test('prints tables of what it measures', async () => {
  const rows = syntheticTickets(240).map(({ text, labels }, index) => {
    // One label of a language is wrong.
    const language = index === 0 ? 'de' : 'en';
    return `${text.subject},"The ${text.body}, and this is an English sentence.",${labels.topic},${language},${labels.tagIds[0] ?? ''}`;
  });
  const { code, text, errors } = await run('evaluate', temporaryFile('tickets.csv', [header, ...rows].join('\n')));
  expect(errors).toBe('');
  expect(code).toBe(0);
  expect(text).toContain('Language: 240 tickets of 20 characters or more; 1 left out');
  const [, f1] = /^macro F1 +\d+ +- +- +([\d.]+)/m.exec(text) ?? [];
  expect(Number(f1)).toBeGreaterThan(0.9);
  for (const line of [
    /^network +\d+/m,
    /^7 +\d+/m,
    /^micro +\d+/m,
    /p95 [\d.]+ ms/,
    /calibration error/,
    /^sentiment: /m,
  ]) {
    expect(text).toMatch(line);
  }
});

test('prints what would be stored of tickets that people have tagged', async () => {
  const rows = syntheticTickets(240).map(({ text, labels }, index) => {
    const tags = [labels.topic, index < 9 ? 'rare' : labels.tagIds.includes(7) ? 'urgent' : ''];
    return `${text.subject},${text.body},q,en,${tags.join()}`;
  });
  const file = temporaryFile('tickets.csv', ['subject,body,queue,language,tag_1,tag_2', ...rows].join('\n'));
  const { code, text, errors } = await run('train', file);
  expect([code, errors]).toEqual([0, '']);
  for (const tag of ['billing', 'network', 'delivery', 'urgent', 'macro']) {
    const [, f1] = new RegExp(`^${tag} .* ([\\d.]+)$`, 'm').exec(text) ?? [];
    expect(Number(f1), tag).toBeGreaterThan(0.9);
  }
  expect(text).toMatch(/^model: \d+ bytes, \d+ features, 4 labels/m);
  expect(text).toContain('tags: 5, of which 1 have fewer than 10 tickets, and 0 are beyond the 200 most frequent');
});

test('says what is wrong with the command line or the file', async () => {
  expect(await run()).toMatchObject({ code: 1, errors: expect.stringContaining('evaluate FILE.csv') });
  expect(await run('learn', 'x.csv')).toMatchObject({ code: 1, errors: expect.stringContaining('train FILE.csv') });
  expect(await run('evaluate', 'x.csv', '--splits', '21')).toMatchObject({
    code: 1,
    errors: expect.stringContaining('--splits'),
  });
  const withoutQueue = temporaryFile('tickets.csv', 'subject,body,language\na,b,en\n');
  expect((await run('evaluate', withoutQueue)).errors).toBe('The file has no column "queue".');
  const broken = temporaryFile('tickets.csv', `${header}\na,b,c,en\n`);
  expect((await run('evaluate', broken)).errors).toContain('Line 2: the row has 4 columns, the header has 5');
  const complete = temporaryFile('tickets.csv', `${header}\na,b,c,en,\n`);
  expect((await run('evaluate', complete, '--spam', '/nowhere')).errors).toContain('/nowhere/easy-ham-1');
});
