import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { editor, type KnowledgeHarness, startHarness } from '../../services/knowledge/test/harness.ts';
import { command } from '../../tools/cli/import-knowledge.ts';

let knowledge: KnowledgeHarness;
let root: string;
let folder: string;
let printed: string[];

beforeAll(async () => {
  knowledge = await startHarness();
});
afterAll(() => knowledge.stop());
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'import-knowledge-'));
  folder = join(root, 'wissen');
  printed = [];
});
afterEach(() => rmSync(root, { recursive: true }));

function write(name: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), content);
}

async function run(...flags: string[]): Promise<number> {
  printed = [];
  const token = await knowledge.identity.internalToken('knowledge', testCaller(editor));
  const print = (text: string) => printed.push(text);
  return command([folder, '--url', knowledge.url, ...flags], {
    env: { IMPORT_TOKEN: token },
    print,
    printError: print,
  });
}

const summary = (): Record<string, string> =>
  Object.fromEntries((printed.at(-1) ?? '').split('\n').map((line) => line.split(/ {2,}| (?=\d)/)));
/** The sources below one, or with a `source`. */
async function sources(query: Record<string, string | number>) {
  const { json } = await knowledge.write('GET', `/knowledgeSource?${new URLSearchParams(query as never)}`);
  return json.knowledgeSources;
}
const readSource = async (source: string) => (await sources({ source }))[0];

// guarantee: K6
test('makes a source of each file and folder, and changes nothing in a second run', async () => {
  write('faq/lieferung.md', '---\ntitle: "Lieferung & Versand"\n---\n# Anders\n\n[x](javascript:alert(1)) **bald**\n');
  write('faq/tief/rueckgabe.markdown', '```\n# kein Titel\n```\nRückgabe *heute*\n====\n\nText\n');
  write(
    'seite.html',
    '<!doctype html><html><head><title>Ma&szlig;e\n  XL</title></head><body><h1>x</h1><p onclick=x>y</p></body></html>\n',
  );
  write('teil.htm', 'Hallo <h2>Der <b>Titel</b></h2>');
  write('notiz.txt', '\ufeffNur Text');
  write('bild.png', 'x');
  write('.git/config.md', 'x');
  const top = await knowledge.create();
  const flags = ['--parent', String(top.id), '--prefix', 'a:', '--type', 'faq'];
  expect(await run(...flags)).toBe(0);
  expect(summary()).toMatchObject({ files: '5', created: '5', unchanged: '0', refused: '0', 'new folders': '2' });
  const [faq, deep] = [await readSource('a:faq/'), await readSource('a:faq/tief/')];
  expect(faq).toMatchObject({ type: 'other', title: 'faq', parent: top.id });
  expect(deep).toMatchObject({ title: 'tief', parent: faq.id });
  const lieferung = await readSource('a:faq/lieferung.md');
  expect(lieferung).toMatchObject({ type: 'faq', name: 'lieferung.md', title: 'Lieferung & Versand', parent: faq.id });
  expect(lieferung.text).toBe('# Anders\n\n[x](#) **bald**\n');
  expect(await readSource('a:faq/tief/rueckgabe.markdown')).toMatchObject({ title: 'Rückgabe heute', parent: deep.id });
  expect(await readSource('a:seite.html')).toMatchObject({ title: 'Maße XL', parent: top.id });
  expect((await readSource('a:seite.html')).text).toContain('<p>y</p>');
  expect(await readSource('a:teil.htm')).toMatchObject({ title: 'Der Titel' });
  expect(await readSource('a:notiz.txt')).toMatchObject({ title: 'notiz', text: 'Nur Text' });

  const count = () => knowledge.database.collection('sources').countDocuments();
  const before = await count();
  expect(await run(...flags)).toBe(0);
  expect(summary()).toMatchObject({ files: '5', created: '0', updated: '0', unchanged: '5', 'new folders': '0' });
  expect(await count()).toBe(before);
});

test('updates what has changed, also what is archived, and creates again what was deleted', async () => {
  for (const name of ['eins', 'zwei', 'drei']) write(`b/${name}.md`, `# ${name}\n`);
  expect(await run()).toBe(0);
  const [one, two] = [await readSource('b/eins.md'), await readSource('b/zwei.md')];
  await knowledge.write('PATCH', `/knowledgeSource/${one.id}`, { status: 'archived' });
  await knowledge.write('PATCH', `/knowledgeSource/${two.id}`, { status: 'deleted' });
  write('b/eins.md', '# neu\n');
  expect(await run()).toBe(0);
  expect(summary()).toMatchObject({ created: '1', updated: '1', unchanged: '1' });
  expect((await sources({ source: 'b/eins.md', status: 'archived' }))[0]).toMatchObject({ id: one.id, title: 'neu' });
  expect((await readSource('b/zwei.md')).id).toBeGreaterThan(two.id);
});

test('refuses files that are too large, not UTF-8 or empty, and follows no link', async () => {
  write('gut.md', 'x'.repeat(1024 * 1024));
  write('gross.md', 'x'.repeat(1024 * 1024 + 1));
  write('latin1.txt', Buffer.from([0x67, 0xfc, 0x6e]));
  write('leer.md', ' \n\n');
  write('../geheim.md', 'geheim');
  symlinkSync(join(root, 'geheim.md'), join(folder, 'link.md'));
  symlinkSync(root, join(folder, 'ordner'));
  expect(await run('--dry-run')).toBe(2);
  expect(printed.at(-1)).toBe('4 files in 1 folders, 3 of them would be refused');
  expect(await readSource('gut.md')).toBeUndefined();
  expect(await run('--prefix', 'c:')).toBe(2);
  expect(summary()).toMatchObject({ files: '4', created: '1', refused: '3' });
  const rejects = readFileSync(`${folder}.rejects.csv`, 'utf8');
  expect(rejects).toContain('The file has 1048577 bytes; 1048576 are allowed.');
  expect(rejects).toContain(`The file is not UTF-8; convert it first.,${join(folder, 'latin1.txt')}`);
  expect(rejects).toContain('The file is empty.');
  for (const name of ['gross.md', 'latin1.txt', 'leer.md']) rmSync(join(folder, name));
  expect(await run('--prefix', 'c:')).toBe(0);
  expect(existsSync(`${folder}.rejects.csv`)).toBe(false);
});

test('refuses what is in folders that are nested too deep, and imports the rest', async () => {
  const nested = (depth: number) => Array.from({ length: depth }, () => 'd').join('/');
  write(`${nested(99)}/in.md`, 'x');
  write(`${nested(100)}/zu-tief.md`, 'x');
  write(`${nested(102)}/weit-zu-tief.md`, 'x');
  write('oben.md', 'x');
  expect(await run('--prefix', 'tief:')).toBe(2);
  expect(summary()).toMatchObject({ files: '4', refused: '2' });
  expect(readFileSync(`${folder}.rejects.csv`, 'utf8')).toContain('A folder around it was refused: ');
  expect(await readSource('tief:oben.md')).toBeDefined();
});

// guarantee: K6
test('makes no second source of a file that is sent again, or by two runs at the same time', async () => {
  for (let index = 0; index < 10; index++) write(`d/${index}.md`, `# Nummer ${index}\n`);
  const ends = await Promise.all([run(), run(), run('--concurrency', '3')]);
  expect(ends).toEqual([0, 0, 0]);
  for (let index = 0; index < 10; index++) expect(await sources({ source: `d/${index}.md` })).toHaveLength(1);
  expect(await sources({ source: 'd/' })).toHaveLength(1);
});

test('says what is wrong with the command', async () => {
  mkdirSync(folder);
  expect(await run()).toBe(1);
  write('x.md', 'x');
  expect(await run('--type', 'x')).toBe(1);
  expect(printed[0]).toContain('--type takes faq');
  expect(await run('--parent', '999999')).toBe(2);
  expect(readFileSync(`${folder}.rejects.csv`, 'utf8')).toContain('#/parent: source 999999 does not exist');
});
