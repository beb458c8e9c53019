import { formatRfc3339 } from '@ticketing/rest/date-time.ts';
import type { Cell, Column, FileFormat } from './file-format.ts';
import { looksLikeFormula } from './formula.ts';
import { writeText } from './write-text.ts';

const byteOrderMark = '\ufeff';

/**
 * Comma-separated values (RFC 4180) with a header row. The file starts with a byte order mark, without which spreadsheet
 * programs do not recognise UTF-8.
 *
 * Shape: texts are quoted, so that a program that splits at another character than the comma leaves them whole; numbers,
 * times and empty cells are not. A text that a spreadsheet program could read as a formula is preceded by a `'`.
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
  return quoted(looksLikeFormula(cell) ? `'${cell}` : cell);
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
