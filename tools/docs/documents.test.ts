import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { documentIndexes, withDocumentLists } from './document-indexes.ts';
import { runDocuments } from './documents.ts';
import { brokenLinks, linkedFiles } from './links.ts';
import { differences, measurePart, readableJson, steady } from './shape.ts';
import { startShell } from './shell.ts';
import { snippetsIn } from './snippets.ts';
import { architectureDocument, withSystemDrawing } from './system-drawing.ts';

const root = join(import.meta.dirname, '../..');
const documents = globSync(['*.md', '{docs,packages,services,deploy,tools,bench,test}/**/*.md'], {
  cwd: root,
  exclude: (name) => /(^|\/)(node_modules|dist|results)(\/|$)/.test(name),
});

test('every link between documents leads to a file and heading that exist', () => {
  expect(documents.length).toBeGreaterThan(60);
  expect(documents.flatMap((document) => brokenLinks(root, document))).toEqual([]);
});

test('every document in docs/ can be reached from its index', () => {
  const reached = new Set<string>();
  const visit = (document: string) => {
    if (reached.has(document) || !documents.includes(document)) return;
    reached.add(document);
    for (const linked of linkedFiles(root, document)) {
      visit(linked);
      // A link to a folder leads to its pages.
      for (const page of documents) if (dirname(page) === linked) visit(page);
    }
  };
  visit('docs/README.md');
  expect(documents.filter((document) => document.startsWith('docs/') && !reached.has(document))).toEqual([]);
});

test('the indexes name every page; npm run generate writes them', () => {
  for (const document of Object.keys(documentIndexes)) {
    const text = readFileSync(join(root, document), 'utf8');
    expect(withDocumentLists(root, document, text), document).toBe(text);
  }
});

test('the drawing of the architecture follows from the description; npm run generate writes it', () => {
  const text = readFileSync(join(root, architectureDocument), 'utf8');
  expect(withSystemDrawing(text)).toBe(text);
});

test('these commands of the documents are not run, because they need more than a system', () => {
  const skipped = runDocuments.flatMap((document) =>
    snippetsIn(join(root, document))
      .filter(({ language, name }) => ['sh', 'bash', 'shell'].includes(language) && !['', 'wait'].includes(name))
      .map(({ name, code }) => `${document}: ${name}: ${code.split('\n')[0]}`),
  );
  expect(skipped).toEqual([
    'README.md: no-run: npm start',
    'README.md: no-run: npm run import -- tickets.csv',
    'README.md: no-run: grpcurl -plaintext 127.0.0.1:8082 list',
    'docs/quick-start.md: no-run: npm start',
  ]);
});

test.each(['docs/dependencies.md', 'CONTRIBUTING.md'])('the tables of %s have one row for each name', (document) => {
  const names: string[] = readFileSync(join(root, document), 'utf8').match(/^\| [^|]+ \|/gm) ?? [];
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  expect(repeated.filter((name) => !['| Package |', '| Command |'].includes(name))).toEqual([]);
  expect(names.length).toBeGreaterThan(15);
});

test('programs of clients read no variable with the prefix of the system, which would refuse to start in their shell', () => {
  const programs = documents.flatMap((document) => snippetsIn(join(root, document)).map(({ code }) => code));
  const reading = programs.filter((code) => code.includes('process.env'));
  expect(reading.length).toBeGreaterThan(5);
  expect(reading.flatMap((code) => code.match(/TICKETING_\w+/g) ?? [])).toEqual([]);
});

test('finds links to missing files and headings, not those in code', () => {
  const folder = mkdtempSync(join(tmpdir(), 'links-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('other.md', '# Other\n\n## The `code`, of 2 things\n\n## Twice\n\n## Twice\n\n```sh\n# Not a heading\n```\n');
  write(
    'page.md',
    '# Page\n\n[a](other.md#the-code-of-2-things) [b](other.md#twice-1) [c](#page) [d](https://example.com)\n' +
      '`[e](missing.md)`\n\n```md\n[f](missing.md)\n```\n\n' +
      '[g](missing.md) [h](other.md#twice-2) [i](other.md#not-a-heading) [j](#nowhere) [k](other.md "with a title")\n',
  );
  expect(brokenLinks(folder, 'page.md')).toEqual(
    ['missing.md', 'other.md#twice-2', 'other.md#not-a-heading', '#nowhere'].map((target) => {
      return { document: 'page.md', line: 10, target };
    }),
  );
});

test('compares what is shown with what was returned, but for ids and times', () => {
  const shown = { id: 1, at: '2026-01-31 09:10:00', version: 2, file: { id: 'abcdefgh' }, list: ['a', 'b'] };
  const actual = { id: 1, at: '2027-02-01 10:11:12', version: 9, file: { id: 'zyxwvuts' }, list: ['a', 'b'] };
  expect(differences(shown, actual, false)).toEqual([]);
  const wrong: [unknown, number][] = [
    [{ ...actual, id: 2 }, 1],
    [{ ...actual, at: null }, 1],
    [{ ...actual, version: '9' }, 1],
    [{ ...actual, list: ['a'] }, 1],
    [{ ...actual, list: ['a', 'c'] }, 1],
    [{ ...actual, more: 1 }, 1],
    [{ id: 1 }, 4],
    [[], 1],
  ];
  for (const [value, count] of wrong)
    expect(differences(shown, value, false), JSON.stringify(value)).toHaveLength(count);
});

test('ignores in a part what it does not show, but compares what it shows', () => {
  const actual = { id: 1, tags: [{ id: 2, name: 'x' }, { id: 3 }], empty: [] };
  expect(differences({ tags: [{ id: 2 }], empty: [] }, actual, true)).toEqual([]);
  expect(differences({ tags: [] }, actual, true)).toHaveLength(1);
  expect(differences({ tags: [{ id: 3 }] }, actual, true)).toHaveLength(1);
  expect(differences({ missing: null }, actual, true)).toHaveLength(1);
  expect(measurePart({ tags: [{ id: 0 }], empty: [] }, actual)).toEqual({ tags: [{ id: 2 }], empty: [] });
});

test('writes JSON that fits in a line in one', () => {
  const value = (length: number) => ({ a: [1, 2], b: { c: 'x'.repeat(length) } });
  // 100 characters with the indentation.
  expect(readableJson(value(87))).toBe(`{\n  "a": [1, 2],\n  "b": { "c": "${'x'.repeat(87)}" }\n}`);
  expect(readableJson(value(88))).toBe(`{\n  "a": [1, 2],\n  "b": {\n    "c": "${'x'.repeat(88)}"\n  }\n}`);
  expect(JSON.parse(readableJson(value(88)))).toEqual(value(88));
});

test('replaces what changes from run to run in texts', () => {
  expect(steady('at 2026-01-31T09:10:00Z, http://127.0.0.1:8080/ticket/1/attachment/ab12cd34')).toBe(
    'at TIME, URL/ticket/1/attachment/ID',
  );
});

test('a shell keeps variables and functions, and says that a command has failed', async () => {
  const shell = startShell(root, { GIVEN: 'x' });
  onTestFinished(() => shell.end());
  expect(await shell.run('A=1; f() { echo "$GIVEN$A$1"; }')).toEqual({ output: '', code: 0 });
  expect(await shell.run('f 2; printf 3')).toEqual({ output: 'x12\n3', code: 0 });
  expect(await shell.run('(exit 7); echo on')).toEqual({ output: 'on\n', code: 7 });
  expect(await shell.run('false | cat')).toEqual({ output: '', code: 1 });
  expect(await shell.run('true')).toEqual({ output: '', code: 0 });
  expect(await shell.run('exit 3')).toEqual({ output: '', code: 3 });
});
