import {
  ExportFormat,
  type ExportReportingTicketsRequest,
} from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import { type Condition, readFilters } from '@ticketing/rest/codec/filter.ts';
import { readOrder } from '@ticketing/rest/codec/read-order.ts';
import { fieldQuery } from '@ticketing/store/document/field-query.ts';
import { computedColumn, type RowColumn, shownColumns } from '../row/rules/columns.ts';
import type { RowRequest } from '../row/store/read.ts';
import type { RowDocument } from '../row/store/schema.ts';
import type { ReportingSettings } from '../settings.ts';
import { csvFormat } from './csv.ts';
import type { Cell, FileFormat, Pages } from './file-format.ts';
import { jsonFormat } from './json.ts';
import { xlsxFormat } from './xlsx.ts';

/** A valid export: which rows and columns it contains, and in which file format. */
export interface ExportPlan {
  format: ExportFormat;
  fileFormat: FileFormat;
  columns: readonly RowColumn[];
  rows: RowRequest;
}

const defaultLimit = 100;

/**
 * Validates the request for an export and plans it. Units: `now` in Unix seconds.
 *
 * Errors: invalid_filter, unknown_order; not_allowed for `limit` or `offset` together with `all`.
 * Source: docs/reference/api.md, Exports.
 */
export function planExport(
  request: ExportReportingTicketsRequest,
  settings: ReportingSettings,
  now: number,
): ExportPlan {
  const columns = shownColumns(settings.reportingPrivacyLevel);
  const keys = new Map(columns.map(({ name, filterKey }) => [name, filterKey]));
  const conditions = readFilters(request.filters, keys);
  const order = readOrder(request, keys, { key: 'id' });
  const isAll = request.all ?? false;
  const refused = (['limit', 'offset'] as const).filter((name) => isAll && request[name] !== undefined);
  if (refused.length > 0) {
    const detail = 'cannot be combined with all';
    throw invalidInput(refused.map((name) => ({ pointer: `#/${name}`, code: 'not_allowed', detail })));
  }
  const format = request.format ?? settings.defaultDateExportFormat;
  return {
    format,
    fileFormat: findFileFormat(format),
    columns,
    rows: {
      queries: conditions.map((condition) => toQuery(condition, columns)),
      order,
      now,
      offset: request.offset ?? 0,
      limit: isAll ? undefined : (request.limit ?? defaultLimit),
      columns: columns.map(({ name }) => name).filter((name) => name !== 'id' && name !== computedColumn),
      maxTimeMs: undefined,
    },
  };
}

function toQuery(condition: Condition, columns: readonly RowColumn[]): RowRequest['queries'][number] {
  const column = columns.find(({ name }) => name === condition.key);
  if (!column) throw new Error(`${condition.key} is not a column`);
  const field = column.name === 'id' ? '_id' : column.name;
  return { column: column.name, query: fieldQuery(field, condition, column.filterKey) };
}

/** Returns how files of a format are written. */
export function findFileFormat(format: ExportFormat): FileFormat {
  if (format === ExportFormat.CSV) return csvFormat;
  return format === ExportFormat.JSON ? jsonFormat : xlsxFormat;
}

/** Converts pages of stored rows into pages of cells. */
export async function* toCells(plan: ExportPlan, pages: AsyncIterable<readonly RowDocument[]>): Pages {
  for await (const page of pages) yield page.map((document) => toRowCells(document, plan));
}

function toRowCells(document: RowDocument, { columns, rows }: ExportPlan): Cell[] {
  return columns.map(({ name, spellingOfRank }) => {
    if (name === 'id') return document._id;
    const stored = name === computedColumn ? secondsSinceLastCustomerMessage(document, rows.now) : document[name];
    if (stored === null || stored === undefined) return null;
    if (stored instanceof Date) return stored.getTime() / 1000;
    if (spellingOfRank) return spellingOfRank.get(Number(stored)) ?? null;
    return stored as string | number;
  });
}

/** Counted until the ticket was closed, or until now. Null without a message of the customer. */
function secondsSinceLastCustomerMessage(row: RowDocument, now: number): number | null {
  const { lastCustomerMessageAt, closedAt } = row;
  if (!(lastCustomerMessageAt instanceof Date)) return null;
  const until = closedAt instanceof Date ? closedAt.getTime() / 1000 : now;
  return Math.floor(until - lastCustomerMessageAt.getTime() / 1000);
}
