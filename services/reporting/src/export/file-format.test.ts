import { setImmediate } from 'node:timers/promises';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import { turns } from '@ticketing/testkit/turns.ts';
import { expect, test, vi } from 'vitest';
import { csvFormat } from './csv.ts';
import type { Cell, Column, FileFormat, Pages } from './file-format.ts';
import { jsonFormat } from './json.ts';
import { collect, endlessPages } from './pages-fixture.ts';
import { xlsxFormat } from './xlsx.ts';

const columns: Column[] = [{ name: 'text', type: 'text' }];
const formats: [string, FileFormat][] = [jsonFormat, csvFormat, xlsxFormat].map((format) => [
  format.fileEnding,
  format,
]);
const smallPage = () => [['text']];
// Random text, because it hardly compresses.
const bigPage = () => Array.from({ length: 8 }, () => [seededBytes(12_000).toString('base64')]);
const bigPageBytes = 128_000;

test.each(formats)('%s pulls no page before its output is read', async (_ending, format) => {
  const { state, pages } = endlessPages(smallPage);
  format.write(columns, pages);
  await turns(20);
  expect(state.pulled).toBe(0);
});

test.each(formats)('%s pulls no further page while its output is not read', async (_ending, format) => {
  const { state, pages } = endlessPages(bigPage);
  const chunks = format.write(columns, pages)[Symbol.asyncIterator]();
  for (let read = 0; read < 20; read++) {
    await chunks.next();
    const { pulled } = state;
    await turns(20);
    expect(state.pulled).toBe(pulled);
  }
  await chunks.return?.();
});

// guarantee: F40
test.each(formats)('%s buffers less than 1 MiB of the pages that it pulled', async (_ending, format) => {
  const { state, pages } = endlessPages(bigPage);
  let written = 0;
  for await (const chunk of format.write(columns, pages)) {
    written += chunk.length;
    const compressed = format === xlsxFormat ? 0.76 : 1;
    expect(state.pulled * bigPageBytes * compressed - written).toBeLessThan(1_048_576);
    if (state.pulled === 40) break;
  }
});

test.each(formats)('%s closes the pages when its reader stops early', async (_ending, format) => {
  const { state, pages } = endlessPages(smallPage);
  for await (const _chunk of format.write(columns, pages)) break;
  const { pulled } = state;
  await turns(20);
  expect(state).toEqual({ pulled, isClosed: true });
});

test.each(formats)('%s fails with the error of its pages', async (_ending, format) => {
  async function* failing(): Pages {
    yield smallPage();
    throw new Error('lost the store');
  }
  await expect(collect(format.write(columns, failing()))).rejects.toThrow('lost the store');
});

test.each(formats)('%s lets other work run between the rows of a large page', async (_ending, format) => {
  let turn = 0;
  let isDone = false;
  const turnsOfRows: number[] = [];
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  // A row that takes longer to write than a time slice of the event loop.
  const slowRow = () =>
    Object.defineProperty<Cell[]>([''], 0, {
      get() {
        turnsOfRows.push(turn);
        nowMs += 12;
        return 'text';
      },
    });
  async function* large(): Pages {
    yield Array.from({ length: 5 }, slowRow);
  }
  const written = collect(format.write(columns, large())).finally(() => {
    isDone = true;
  });
  for (; !isDone; turn++) await setImmediate();
  await written;
  expect(turnsOfRows).toHaveLength(5);
  expect(new Set(turnsOfRows).size).toBe(5);
});
