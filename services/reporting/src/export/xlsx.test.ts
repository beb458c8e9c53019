import exceljs from 'exceljs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Cell, Column } from './file-format.ts';
import { collect, onePerPage } from './pages-fixture.ts';
import { xlsxFormat } from './xlsx.ts';

const columns: Column[] = [
  { name: 'id', type: 'integer' },
  { name: 'subject', type: 'text' },
  { name: 'closed_at', type: 'dateTime' },
];

test('a reader gets numbers, texts and times with their types', async () => {
  const sheet = await readBack([
    [1, 'Hello', 1_767_323_045],
    [-2, '12', null],
    [null, null, 0],
    [Number.MAX_SAFE_INTEGER, 'äöü 😀\nline', 4_102_444_799],
  ]);
  expect(sheet.name).toBe('tickets');
  expect(toValues(sheet)).toEqual([
    ['id', 'subject', 'closed_at'],
    [1, 'Hello', new Date('2026-01-02T03:04:05Z')],
    [-2, '12', null],
    [null, null, new Date(0)],
    [Number.MAX_SAFE_INTEGER, 'äöü 😀\nline', new Date('2099-12-31T23:59:59Z')],
  ]);
  expect(sheet.getCell('C2').numFmt).toBe('yyyy-mm-dd hh:mm:ss');
  expect(sheet.getCell('A2').numFmt ?? 'General').toBe('General');
});

test('freezes the header row', async () => {
  const sheet = await readBack([]);
  expect(sheet.views[0]).toMatchObject({ state: 'frozen', ySplit: 1 });
  expect(toValues(sheet)).toEqual([['id', 'subject', 'closed_at']]);
});

test.each([
  '=HYPERLINK("http://x","y")',
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '{=1}',
  'http://x.example',
  'mailto:a@b.example',
  '#REF!',
  'TRUE',
  '1e5',
  '2026-01-02',
  "'quoted",
  '<b>&"\'</b>',
  '{"richText":[{"text":"x"}]}',
])('writes %j as a text cell', async (text) => {
  const cell = (await readBack([[1, text, null]])).getCell('B2');
  expect([cell.type, cell.value]).toEqual([exceljs.ValueType.String, text]);
});

// asvs: 1.2.1
test('writes a file that can be opened, whatever the texts contain', async () => {
  const unit = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom(...'\u0000\u0008\u000b\u001f\u007f\ufffe\uffff<>"\']=_ \n', '\ud800', '\udc00'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit, minLength: 1 }), { minLength: 1 }), async (texts) => {
      const sheet = await readBack(texts.map((text) => [1, text, null]));
      const readable = (text: string) =>
        text.replace(/(?![\t\n\r\u0080-\u009f])[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd');
      const expected = texts.map((text) => readable(text).replace(/\r\n?/g, '\n'));
      expect(toValues(sheet).map((row) => row[1])).toEqual(['subject', ...expected]);
    }),
    { numRuns: 30 },
  );
});

// guarantee: I9
test('cuts a text at the length limit of a cell', async () => {
  const sheet = await readBack([
    [1, 'a'.repeat(40_000), null],
    [2, `${'a'.repeat(32_766)}😀`, null],
  ]);
  expect(sheet.getCell('B2').value).toBe('a'.repeat(32_767));
  expect(sheet.getCell('B3').value).toBe('a'.repeat(32_766));
});

test('escapes what looks like an escape', async () => {
  // The reader of exceljs does not decode escapes in such cells, so this is the text in the file.
  expect((await readBack([[1, '_x0041_', null]])).getCell('B2').value).toBe('_x005F_x0041_');
});

async function readBack(rows: readonly (readonly Cell[])[]): Promise<exceljs.Worksheet> {
  const bytes = await collect(xlsxFormat.write(columns, onePerPage(rows)));
  const workbook = new exceljs.Workbook();
  await workbook.xlsx.load(new Uint8Array(bytes).buffer);
  expect(workbook.worksheets).toHaveLength(1);
  const sheet = workbook.worksheets[0];
  if (!sheet) throw new Error('no sheet');
  return sheet;
}

function toValues(sheet: exceljs.Worksheet): unknown[][] {
  return Array.from({ length: sheet.rowCount }, (_row, index) =>
    columns.map((_column, column) => sheet.getRow(index + 1).getCell(column + 1).value),
  );
}
