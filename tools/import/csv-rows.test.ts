import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type CsvRow, openCsv } from './csv-rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'csv-rows-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function read(text: string): Promise<{ header: string[]; rows: CsvRow[] }> {
  const path = join(folder, 'rows.csv');
  writeFileSync(path, text);
  const { header, rows } = await openCsv(path, ',');
  const all: CsvRow[] = [];
  for await (const row of rows) all.push(row);
  return { header, rows: all };
}

for (const [name, newline] of Object.entries({ LF: '\n', CRLF: '\r\n' })) {
  test(`returns the line on which each row begins, also after cells with line breaks and empty lines (${name})`, async () => {
    const lines = ['\ufeffa,b', '1,"x', 'y ""z"""', '', '2,"p', '', 'q"', '3,c'];
    const { header, rows } = await read(lines.join(newline));
    expect(header).toEqual(['a', 'b']);
    expect(rows.map(({ row, line, cells }) => [row, line, ...cells])).toEqual([
      [1, 2, '1', `x${newline}y "z"`],
      [2, 5, '2', `p${newline}${newline}q`],
      [3, 8, '3', 'c'],
    ]);
    expect(rows.every(({ problem }) => problem === undefined)).toBe(true);
  });
}

test('reports broken rows and continues with the rows after them', async () => {
  const { rows } = await read('a,b\n1\n2,x,y\n3,"p"q\n4,"""ok"" 5"" disk"\n5,"open\n6,lost\n');
  expect(rows.map(({ row, line, problem }) => [row, line, problem])).toEqual([
    [1, 2, 'the row has 1 columns, the header has 2'],
    [2, 3, 'the row has 3 columns, the header has 2'],
    [3, 4, 'a quote closes before the end of its cell'],
    [4, 5, undefined],
    [5, 6, 'a quote is not closed up to the end of the file'],
  ]);
});

test('refuses an empty file, and a header with a duplicate name', async () => {
  await expect(read('')).rejects.toThrow(/is empty/);
  await expect(read('a,b,a\n1,2,3\n')).rejects.toThrow(/column "a" twice/);
});
