import { createReadStream } from 'node:fs';
import { type Options, parse } from 'csv-parse';
import { parse as parseText } from 'csv-parse/sync';
import { UsageError } from '../cli/command.ts';
import { isObject } from './json.ts';

export interface CsvRow {
  /** The number of the row, from 1, without the header. It is stable as long as the file is unchanged. */
  row: number;
  /** The line of the file, from 1, on which the row begins. */
  line: number;
  cells: string[];
  /** The offset in the file at which the row ends. */
  endByte: number;
  /** Why the row cannot be used. */
  problem?: string;
}

interface CsvFile {
  header: string[];
  rows: AsyncGenerator<CsvRow>;
}

/**
 * Reads a CSV file (RFC 4180, UTF-8 with or without BOM) row by row.
 *
 * Errors: UsageError if it has no header, or a header with a duplicate name. A broken row is returned with its problem.
 */
export async function openCsv(path: string, delimiter: string): Promise<CsvFile> {
  const records = readRecords(path, delimiter);
  const first = await records.next();
  if (first.done) throw new UsageError(`${path} is empty; its first row should name the columns.`);
  if (first.value.problem !== undefined)
    throw new UsageError(`The header of ${path} is broken: ${first.value.problem}.`);
  const header = first.value.cells.map((cell, index) => cell.trim() || `column_${index + 1}`);
  const duplicate = header.find((column, index) => header.indexOf(column) !== index);
  if (duplicate !== undefined) throw new UsageError(`The header of ${path} has the column "${duplicate}" twice.`);
  return { header, rows: checkWidth(records, header.length) };
}

async function* checkWidth(records: AsyncGenerator<CsvRow>, width: number): AsyncGenerator<CsvRow> {
  for await (const record of records) {
    const has = record.cells.length;
    const fits = record.problem !== undefined || has === width;
    yield fits ? record : { ...record, problem: `the row has ${has} columns, the header has ${width}` };
  }
}

async function* readRecords(path: string, delimiter: string): AsyncGenerator<CsvRow> {
  let unclosed = false;
  const format: Options = { delimiter, record_delimiter: ['\r\n', '\n', '\r'], skip_empty_lines: true };
  const parser = parse({
    ...format,
    bom: true,
    relax_column_count: true,
    // Without this option the parser skips good rows until the next quote.
    relax_quotes: true,
    info: true,
    raw: true,
    skip_records_with_error: true,
    on_skip: () => {
      unclosed = true;
      return undefined;
    },
  });
  const source = createReadStream(path);
  source.once('error', (error) => parser.destroy(error)).pipe(parser);
  const records: AsyncIterable<unknown> = parser;
  let row = 0;
  // Counted here, because the parser counts CRLF within quotes as two lines.
  let linesOfRows = 0;
  try {
    for await (const record of records) {
      const { cells, raw, emptyLines, endByte } = readRecord(record);
      const broken = cells.some((cell) => cell.startsWith('"')) && !isWellFormed(raw, format);
      const line = 1 + linesOfRows + emptyLines;
      yield { row, line, cells, endByte, ...(broken ? { problem: 'a quote closes before the end of its cell' } : {}) };
      row += 1;
      linesOfRows += 1 + cells.reduce((sum, cell) => sum + lineBreaks(cell), 0);
    }
    const line = 1 + linesOfRows + parser.info.empty_lines;
    const problem = 'a quote is not closed up to the end of the file';
    if (unclosed) yield { row, line, cells: [], endByte: parser.info.bytes, problem };
  } finally {
    source.destroy();
    parser.destroy();
  }
}

function readRecord(value: unknown): { cells: string[]; raw: string; emptyLines: number; endByte: number } {
  const { record, raw, info } = isObject(value) ? value : {};
  return {
    cells: Array.isArray(record) ? record.map(String) : [],
    raw: String(raw),
    emptyLines: isObject(info) ? Number(info.empty_lines) : 0,
    endByte: isObject(info) ? Number(info.bytes) : 0,
  };
}

function isWellFormed(raw: string, format: Options): boolean {
  try {
    parseText(raw, { ...format, relax_column_count: true });
    return true;
  } catch {
    return false;
  }
}

function lineBreaks(cell: string): number {
  return cell.match(/\r\n|\n|\r/g)?.length ?? 0;
}
