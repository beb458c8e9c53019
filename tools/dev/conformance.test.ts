import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { missingTests } from './source-references.ts';

const document = readFileSync('docs/conformance.md', 'utf8');

/** The rows of all tables, without their heads. */
const rows = [...document.matchAll(/^\| (.+) \|$/gm)]
  .map(([, cells = '']) => cells.split(' | '))
  .filter(([statement]) => statement !== 'Statement');

test('every statement of docs/conformance.md has a place, tests and a state', () => {
  expect(rows.length).toBeGreaterThan(0);
  const isComplete = ([statement, where, tests, state, ...rest]: string[]) =>
    Boolean(statement) &&
    /^`[^`]+`(, `[^`]+`)*$/.test(where ?? '') &&
    /^(yes|deviation: .+|open: .+)$/.test(state ?? '') &&
    (state?.startsWith('open') || /^`[^`]+`: "[^"]+"(<br>`[^`]+`: "[^"]+")*$/.test(tests ?? '')) &&
    rest.length === 0;
  expect(rows.filter((row) => !isComplete(row))).toEqual([]);
});

test('the files and tests that docs/conformance.md names exist', () => {
  const paths = globSync('{proto,packages,services}/**/*.{ts,proto}', { exclude: (name) => name === 'node_modules' });
  const known = new Set(paths.flatMap((path) => [basename(path), path.split('/').slice(-2).join('/')]));
  const named = rows.flatMap(([, where = '']) => [...where.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
  expect(named.filter((name) => !known.has(name))).toEqual([]);
  expect(missingTests(document, (file) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined))).toEqual([]);
});

test('the numbers at the end of docs/conformance.md are right', () => {
  const count = (state: string) => rows.filter((row) => row.at(-1)?.startsWith(state)).length;
  const numbers = Object.fromEntries(
    [...document.matchAll(/^- ([a-z ]+): (\d+)$/gm)].map(([, name, value]) => [name, Number(value)]),
  );
  expect(numbers).toEqual({
    ...{ rows: rows.length, 'with a test': rows.length - count('open') },
    ...{ deviations: count('deviation'), open: count('open') },
  });
});
