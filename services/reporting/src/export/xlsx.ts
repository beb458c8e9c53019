import { Writable } from 'node:stream';
import { startTimeSlice } from '@ticketing/runtime/time-slice.ts';
import type exceljs from 'exceljs';
import type { Cell, Column, FileFormat, Pages } from './file-format.ts';
import { sheetText } from './sheet-text.ts';

const maxRows = 1_048_576;
const plainStyle = {};
const dateTimeStyle = { numFmt: 'yyyy-mm-dd hh:mm:ss' };
const dateTimeWidth = 20;

/**
 * A workbook with one sheet, `tickets`: typed cells below a frozen header row.
 *
 * Shape: texts become string cells even if they look like formulas or numbers; `sheetText` says what it changes in them.
 * Errors: RangeError beyond 1,048,576 rows including the header, the limit of a sheet.
 */
export const xlsxFormat: FileFormat = {
  contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  fileEnding: 'xlsx',
  write,
};

async function* write(columns: readonly Column[], pages: Pages): AsyncGenerator<Uint8Array> {
  // Loaded here because it takes 15 MB, and few processes write a workbook.
  const { default: library } = await import('exceljs');
  const chunks: Uint8Array[] = [];
  const workbook = new library.stream.xlsx.WorkbookWriter({
    stream: collectInto(chunks),
    useStyles: true,
    useSharedStrings: false,
  });
  const sheet = workbook.addWorksheet('tickets', { views: [{ state: 'frozen', ySplit: 1 }] });
  const slice = startTimeSlice();
  // The sheet has no back pressure, so each time slice ends by waiting until its rows are compressed and have been read.
  async function* flush(): AsyncGenerator<Uint8Array> {
    await rowsCompressed(sheet);
    yield* chunks.splice(0);
    await slice.pause();
  }
  try {
    addHeader(sheet, columns);
    for await (const page of pages) {
      for (const cells of page) {
        addRow(sheet, columns, cells);
        if (slice.isOver()) yield* flush();
      }
      yield* flush();
    }
    await workbook.commit();
    yield* chunks.splice(0);
  } finally {
    // Ends the compression of an unfinished sheet and so frees its memory; for a finished sheet this does nothing.
    sheet.commit();
  }
}

function collectInto(chunks: Uint8Array[]): Writable {
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
}

/**
 * Waits until all rows that were committed to the sheet are compressed.
 *
 * Source: https://github.com/exceljs/exceljs/issues/734 and 2916: the writer ignores back pressure, and the only
 * way to wait for it is through the first pipe of its stream.
 */
async function rowsCompressed(sheet: exceljs.Worksheet): Promise<void> {
  const pipe: unknown = Reflect.get(sheet, 'stream')?.pipes?.[0];
  if (!isWritable(pipe)) throw new TypeError('exceljs has changed: the stream of a sheet has no pipe');
  await new Promise<void>((resolve) => {
    pipe.write(Buffer.alloc(0), () => resolve());
  });
}

function isWritable(value: unknown): value is Pick<Writable, 'write'> {
  return typeof value === 'object' && value !== null && 'write' in value && typeof value.write === 'function';
}

function addHeader(sheet: exceljs.Worksheet, columns: readonly Column[]): void {
  for (const [index, column] of columns.entries()) {
    if (column.type === 'dateTime') sheet.getColumn(index + 1).width = dateTimeWidth;
  }
  sheet.addRow(columns.map((column) => sheetText(column.name))).commit();
}

function addRow(sheet: exceljs.Worksheet, columns: readonly Column[], cells: readonly Cell[]): void {
  const row = sheet.addRow([]);
  if (row.number > maxRows) throw new RangeError(`A sheet holds ${maxRows} rows at most`);
  for (const [index, column] of columns.entries()) {
    const value = cells[index] ?? null;
    if (value === null) continue;
    const cell = row.getCell(index + 1);
    const isTime = column.type === 'dateTime' && typeof value === 'number';
    cell.value = isTime ? new Date(value * 1000) : typeof value === 'string' ? sheetText(value) : value;
    // Shared style objects, because exceljs keeps an entry in memory for every different one.
    cell.style = isTime ? dateTimeStyle : plainStyle;
  }
  row.commit();
}
