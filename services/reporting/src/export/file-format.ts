/** A cell: text, whole number, or time in Unix seconds; null is empty. */
export type Cell = string | number | null;

/**
 * A column of an export.
 *
 * Units: a `dateTime` cell is a number of Unix seconds, UTC.
 */
export interface Column {
  name: string;
  type: 'text' | 'integer' | 'dateTime';
}

/** Rows of cells, in the order of the columns, page by page. */
export type Pages = AsyncIterable<readonly (readonly Cell[])[]>;

/**
 * A file format that rows can be exported to.
 *
 * Shape: `write` pulls a page only when its reader asks for more bytes, and closes `pages` when the reader stops early.
 * Errors: an error of `pages` ends the iteration.
 */
export interface FileFormat {
  contentType: string;
  fileEnding: string;
  write(columns: readonly Column[], pages: Pages): AsyncIterable<Uint8Array>;
}
