import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RejectFile } from './rejects.ts';

let folder: string;
const row = { row: 1, line: 2, endByte: 9, cells: ['a;b', '"c"'] };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rejects-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

test('writes to the current folder if the folder of the imported file is not writable', () => {
  mkdirSync(join(folder, 'read-only', 'rows.csv.rejects.csv'), { recursive: true });
  const rejects = new RejectFile(join(folder, 'read-only', 'rows.csv'), folder, ['x', 'y'], ';');
  rejects.add(row, ['one', 'two']);
  rejects.close();
  expect(rejects.path).toBe(join(folder, 'rows.csv.rejects.csv'));
  expect(readFileSync(join(folder, 'rows.csv.rejects.csv'), 'utf8')).toBe(
    'import_line;import_row;import_reasons;x;y\r\n2;1;"one; two";"a;b";"""c"""\r\n',
  );
});

test('makes no file if no row is rejected', () => {
  const rejects = new RejectFile(join(folder, 'rows.csv'), folder, ['x', 'y'], ',');
  rejects.removeStale();
  rejects.close();
  expect([rejects.path, existsSync(join(folder, 'rows.csv.rejects.csv'))]).toEqual([undefined, false]);
});
