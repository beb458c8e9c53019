import { formatRfc3339 } from '@ticketing/rest/codec/date-time.ts';
import type { Cell, Column, FileFormat } from './file-format.ts';
import { writeText } from './write-text.ts';

/** A JSON array of objects, with the column names as keys, explicit nulls, and times in RFC 3339. */
export const jsonFormat: FileFormat = {
  contentType: 'application/json; charset=utf-8',
  fileEnding: 'json',
  write(columns, pages) {
    const fields = columns.map((column) => ({ key: `${JSON.stringify(column.name)}:`, type: column.type }));
    const object = (cells: readonly Cell[]) =>
      fields.map(({ key, type }, index) => key + jsonValue(cells[index] ?? null, type)).join(',');
    return writeText(
      { head: '[', row: (cells, index) => `${index === 0 ? '' : ','}{${object(cells)}}`, tail: ']' },
      pages,
    );
  },
};

function jsonValue(cell: Cell, type: Column['type']): string {
  return JSON.stringify(type === 'dateTime' && typeof cell === 'number' ? formatRfc3339(cell) : cell);
}
