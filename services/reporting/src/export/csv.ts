import { formatRfc3339 } from '@ticketing/rest/codec/date-time.ts';
import type { Cell, Column, FileFormat } from './file-format.ts';
import { withoutFormulas } from './formula.ts';
import { writeText } from './write-text.ts';

const byteOrderMark = '\ufeff';

/**
 * Comma-separated values (RFC 4180) with a header row. The file starts with a byte order mark, without which spreadsheet
 * programs do not recognise UTF-8.
 *
 * Shape: texts are quoted; numbers, times and empty cells are not. A program that splits at another character than the
 * comma also splits texts, because it recognises a quote only at the start of a cell. So a `'` is written before
 * everything in a text that could become a cell with a formula.
 */
export const csvFormat: FileFormat = {
  contentType: 'text/csv; charset=utf-8',
  fileEnding: 'csv',
  write(columns, pages) {
    const types = columns.map((column) => column.type);
    return writeText(
      {
        head: `${byteOrderMark}${columns.map((column) => quoted(column.name)).join(',')}\r\n`,
        row: (cells) => `${types.map((type, index) => field(cells[index] ?? null, type)).join(',')}\r\n`,
        tail: '',
      },
      pages,
    );
  },
};

function field(cell: Cell, type: Column['type']): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return type === 'dateTime' ? formatRfc3339(cell) : String(cell);
  return quoted(withoutFormulas(cell));
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
