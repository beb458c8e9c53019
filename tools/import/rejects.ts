import { accessSync, closeSync, constants, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { UsageError } from '../cli/command.ts';
import type { CsvRow } from './csv-rows.ts';
import { rejectColumns } from './map-row.ts';

/**
 * The CSV file of the rejected rows, which can be corrected and imported itself. It is written to the folder of the
 * imported file, or to the current folder if that one is not writable.
 */
export class RejectFile {
  readonly #paths: string[];
  readonly #header: readonly string[];
  /** For each column, whether a reject file has added it: the imported file may be a reject file itself. */
  readonly #isAdded: readonly boolean[];
  readonly #delimiter: string;
  #handle: number | undefined;
  #path: string | undefined;

  constructor(importedPath: string, folder: string, header: readonly string[], delimiter: string) {
    this.#paths = [`${importedPath}.rejects.csv`, join(folder, `${basename(importedPath)}.rejects.csv`)];
    this.#header = header;
    this.#isAdded = header.map((column) => rejectColumns.some((name) => name === column));
    this.#delimiter = delimiter;
  }

  /** The path of the written file; undefined as long as no row was rejected. */
  get path(): string | undefined {
    return this.#path;
  }

  add(row: CsvRow, reasons: readonly string[]): void {
    this.#handle ??= this.#open();
    const padding = Array.from({ length: Math.max(0, this.#header.length - row.cells.length) }, () => '');
    this.#write(this.#handle, [
      String(row.line),
      String(row.row),
      reasons.join('; '),
      ...this.#original([...row.cells, ...padding]),
    ]);
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle);
    this.#handle = undefined;
  }

  /** Removes the file of an earlier run. Called after a run without rejects. */
  removeStale(): void {
    const path = this.#paths.find((candidate) => isWritable(dirname(candidate)));
    if (path !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile()) rmSync(path, { force: true });
  }

  #open(): number {
    for (const path of this.#paths) {
      const handle = tryOpen(path);
      if (handle === undefined) continue;
      this.#path = path;
      this.#write(handle, [...rejectColumns, ...this.#original(this.#header)]);
      return handle;
    }
    throw new UsageError(`Cannot write the rejected rows to ${this.#paths.join(' or ')}.`);
  }

  #original(cells: readonly string[]): string[] {
    return cells.filter((_, index) => this.#isAdded[index] !== true);
  }

  #write(handle: number, cells: readonly string[]): void {
    writeSync(handle, `${cells.map((cell) => this.#quote(cell)).join(this.#delimiter)}\r\n`);
  }

  #quote(cell: string): string {
    const plain = !/["\r\n]/.test(cell) && !cell.includes(this.#delimiter);
    return plain ? cell : `"${cell.replaceAll('"', '""')}"`;
  }
}

function tryOpen(path: string): number | undefined {
  try {
    return openSync(path, 'w');
  } catch {
    return undefined;
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
