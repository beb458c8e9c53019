import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvFormat } from './csv.ts';
import type { Column } from './file-format.ts';
import { withoutFormulas } from './formula.ts';
import { collect, onePerPage } from './pages-fixture.ts';

const columns: Column[] = [
  { name: 'id', type: 'integer' },
  { name: 'subject', type: 'text' },
  { name: 'closed_at', type: 'dateTime' },
];

test('writes a byte order mark, a header and a line per row', async () => {
  const rows = [
    [1, 'Hello', 1_767_323_045],
    [-2, 'a, "b"\r\nc', null],
    [null, null, 0],
    [3, '', -1],
    [4, '=HYPERLINK("http://x","y")', null],
    [5, '\tplain', null],
    [6, ' -1', null],
    [7, ';=1', null],
    [8, '|x', null],
    [9, '12', null],
    [10, 'x;=1+1;y', null],
    [11, 'x;"=1\r\n-1', null],
  ];
  const bytes = await collect(csvFormat.write(columns, onePerPage(rows)));
  expect(bytes.toString()).toBe(
    '\ufeff"id","subject","closed_at"\r\n' +
      '1,"Hello",2026-01-02T03:04:05Z\r\n' +
      '-2,"a, ""b""\r\nc",\r\n' +
      ',,1970-01-01T00:00:00Z\r\n' +
      '3,"",1969-12-31T23:59:59Z\r\n' +
      '4,"\'=HYPERLINK(""http://x"",""y"")",\r\n' +
      '5,"\'\tplain",\r\n' +
      '6,"\' -1",\r\n' +
      '7,"\';\'=1",\r\n' +
      '8,"\'|x",\r\n' +
      '9,"12",\r\n' +
      '10,"x;\'=1+1;y",\r\n' +
      '11,"x;""\'=1\r\n\'-1",\r\n',
  );
});

test('writes only the header when there are no rows', async () => {
  const bytes = await collect(csvFormat.write(columns, onePerPage([])));
  expect(bytes).toEqual(Buffer.from('\ufeff"id","subject","closed_at"\r\n'));
});

test('a CSV parser reads every text back unchanged, except for the apostrophes before formulas', async () => {
  const unit = fc.oneof(fc.string({ unit: 'binary', maxLength: 1 }), fc.constantFrom(...'",\r\n\t =+-@;|\ufeff'));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.string({ unit }), fc.string({ unit }))), async (rows) => {
      const names = ['left', 'right'];
      const texts = names.map((name): Column => ({ name, type: 'text' }));
      const bytes = await collect(csvFormat.write(texts, onePerPage(rows)));
      const expected = rows.map((row) => row.map(withoutFormulas));
      expect(parse(bytes, { bom: true, record_delimiter: '\r\n' })).toEqual([names, ...expected]);
    }),
  );
});

test.each([';', '|', '\t'])('a program that splits at %j and lines gets no cell with a formula', async (delimiter) => {
  const unit = fc.constantFrom(...`;,|\t\r\n "'=+-@＝a1`);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.string({ unit }), fc.string({ unit }))), async (rows) => {
      const types = [columns[0], columns[1], columns[1]] as Column[];
      const bytes = await collect(csvFormat.write(types, onePerPage(rows.map((texts, index) => [index, ...texts]))));
      for (const line of bytes.toString().split(/[\r\n]/)) {
        // A quote counts only at the start of a cell; text after the closing quote belongs to the cell too.
        const cells = delimiter === ',' ? [] : line.split(delimiter).slice(1);
        for (const cell of [...cells, line]) expect(cell.replace(/^\s*""/, '')).not.toMatch(/^\s*[=+\-@＝]/);
      }
    }),
  );
});
