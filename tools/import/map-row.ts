import { UsageError } from '../cli/command.ts';
import { type FieldValue, ticketFields } from './field.ts';

export interface MappingOptions {
  /** Columns by field, as given; an empty column name keeps a field from being filled from the column of its name. */
  columns: ReadonlyMap<string, string>;
  /** Values by field, for rows without a value for it. */
  constants: ReadonlyMap<string, string>;
  /** The columns with tag names; undefined for those named tag_1, tag_2 and so on. */
  tagColumns: readonly string[] | undefined;
  /** Whether the other columns are stored as raw data. */
  keepsRaw: boolean;
}

export interface Mapping {
  fields: { field: string; index: number }[];
  constants: ReadonlyMap<string, FieldValue>;
  tagIndexes: number[];
  raw: { column: string; index: number }[];
}

interface MappedRow {
  /** The ticket as an element of POST /ticket/bulk, without tags and `externalTicketId`, which are added later. */
  ticket: Record<string, unknown>;
  /** The text that was written to the customer. */
  answer?: string;
  tagNames: string[];
  problems: string[];
}

/** The columns that a reject file has before the original ones. They are never imported. */
export const rejectColumns = ['import_line', 'import_row', 'import_reasons'] as const;

/**
 * Decides which column fills which field, for all rows of a file.
 *
 * Errors: UsageError with the list of known columns if a column that is named in the options is not among them.
 */
export function planMapping(header: readonly string[], options: MappingOptions): Mapping {
  for (const field of [...options.columns.keys(), ...options.constants.keys()]) checkField(field);
  const fields = [...ticketFields.keys()].flatMap((field) => {
    const index = fieldIndex(header, field, options.columns.get(field));
    return index === undefined ? [] : [{ field, index }];
  });
  const tagIndexes = (options.tagColumns ?? header.filter((column) => /^tag_\d+$/i.test(column))).map((column) =>
    columnIndex(header, column),
  );
  const constants = new Map([...options.constants].map(([field, text]) => [field, readConstant(field, text)]));
  if (!constants.has('channel') && !fields.some(({ field }) => field === 'channel')) constants.set('channel', 'email');
  const used = new Set([...fields.map(({ index }) => index), ...tagIndexes]);
  const ignored = new Set<string>(rejectColumns);
  const raw = header
    .map((column, index) => ({ column, index }))
    .filter(({ column, index }) => options.keepsRaw && !used.has(index) && !ignored.has(column));
  return { fields, constants, tagIndexes, raw };
}

/** Makes a ticket from a row. Empty cells count as absent. */
export function mapRow(mapping: Mapping, cells: readonly string[]): MappedRow {
  const fields: Record<string, unknown> = Object.fromEntries(mapping.constants);
  const problems: string[] = [];
  for (const { field, index } of mapping.fields) {
    const text = cells[index] ?? '';
    if (text.trim() === '') continue;
    const value = ticketFields.get(field)?.read(text);
    if (value === undefined) problems.push(`#/${field}: ${mismatch(field, text)}`);
    else fields[field] = value;
  }
  const { answer, ...ticket } = fields;
  const rawData = mapping.raw.flatMap(({ column, index }) => (cells[index] ? [[column, cells[index]]] : []));
  if (rawData.length > 0) ticket.rawData = Object.fromEntries(rawData);
  const tagNames = mapping.tagIndexes.map((index) => (cells[index] ?? '').trim()).filter((name) => name !== '');
  return { ticket, ...(answer === undefined ? {} : { answer: String(answer) }), tagNames, problems };
}

function fieldIndex(header: readonly string[], field: string, wantedColumn: string | undefined): number | undefined {
  if (wantedColumn === '') return undefined;
  if (wantedColumn !== undefined) return columnIndex(header, wantedColumn);
  const index = header.findIndex((column) => column.toLowerCase() === field.toLowerCase());
  return index < 0 ? undefined : index;
}

function columnIndex(header: readonly string[], column: string): number {
  const index = header.indexOf(column);
  if (index >= 0) return index;
  throw new UsageError(`There is no column "${column}". The columns are: ${header.join(', ')}.`);
}

function checkField(field: string): void {
  if (ticketFields.has(field)) return;
  throw new UsageError(`"${field}" is not a field to import. The fields are: ${[...ticketFields.keys()].join(', ')}.`);
}

function readConstant(field: string, text: string): FieldValue {
  const value = ticketFields.get(field)?.read(text);
  if (value === undefined) throw new UsageError(`The value for ${field} is not valid: ${mismatch(field, text)}.`);
  return value;
}

function mismatch(field: string, text: string): string {
  return `"${text.slice(0, 80)}" is not ${ticketFields.get(field)?.expected ?? 'known'}`;
}
