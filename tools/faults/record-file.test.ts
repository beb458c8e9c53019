import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRecords, readRecords } from './record-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'record-file-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('records are read in their order, by whomever they were added', () => {
  const file = join(folder, 'records');
  expect(readRecords(file)).toEqual([]);
  openRecords(file).add([{ id: 1 }, { id: 2 }]);
  openRecords(file).add([{ id: 3 }]);
  expect(readRecords(file)).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
});

test('a record in whose middle the process died is left out, and damages no other', () => {
  const file = join(folder, 'records');
  openRecords(file).add([{ id: 1 }]);
  appendFileSync(file, '{"id":2,"ev');
  openRecords(file).add([{ id: 3 }]);
  expect(readRecords(file)).toEqual([{ id: 1 }, { id: 3 }]);
});
