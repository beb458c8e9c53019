import { OrderByDirection } from '@ticketing/contracts/ticketing/api/v1/filter_pb.ts';
import {
  ExportFormat,
  type ExportReportingTicketsRequest,
} from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import { type Condition, readFilters } from '@ticketing/rest/filter.ts';
import { fieldQuery } from '@ticketing/store/field-query.ts';
import { computedColumn, type RowColumn, shownColumns } from '../domain/row-columns.ts';
import type { Cell, Format, Pages } from '../format/column.ts';
import { csvFormat } from '../format/csv.ts';
import { jsonFormat } from '../format/json.ts';
import { xlsxFormat } from '../format/xlsx.ts';
import type { ReportingSettings } from '../settings.ts';
import type { RowDocument } from '../store/row-model.ts';
import type { RowRequest } from '../store/row-store.ts';

/** An export that has been checked: which rows, which columns, which form. */
export interface ExportPlan {
  format: ExportFormat;
  writer: Format;
  columns: readonly RowColumn[];
  rows: RowRequest;
}

const defaultLimit = 100;

/**
 * Checks an export. Units: `now` in Unix seconds.
 *
 * Errors: invalid_filter, unknown_order; not_allowed, for `limit` or `offset` with `all`.
 * Source: specification, GET /export/reporting_tickets; decisions.md section 11.
 */
export function planExport(
  request: ExportReportingTicketsRequest,
  settings: ReportingSettings,
  now: number,
): ExportPlan {
  const columns = shownColumns(settings.reportingPrivacyLevel);
  const keys = new Map(columns.map(({ name, filterKey }) => [name, filterKey]));
  const conditions = readFilters(request.filters, keys);
  const orderKey = request.orderByField ?? 'id';
  if (!keys.has(orderKey)) {
    const detail = `must be one of: ${[...keys.keys()].join(', ')}`;
    throw invalidInput([{ pointer: '#/orderByField', code: 'unknown_order', detail }]);
  }
  const isAll = request.all ?? false;
  const refused = (['limit', 'offset'] as const).filter((name) => isAll && request[name] !== undefined);
  if (refused.length > 0) {
    const detail = 'can not be given with all';
    throw invalidInput(refused.map((name) => ({ pointer: `#/${name}`, code: 'not_allowed', detail })));
  }
  const format = request.format ?? settings.defaultDateExportFormat;
  return {
    format,
    writer: writerOf(format),
    columns,
    rows: {
      queries: conditions.map((condition) => queryOf(condition, columns)),
      order: { key: orderKey, direction: request.orderByDirection === OrderByDirection.ASC ? 1 : -1 },
      now,
      offset: request.offset ?? 0,
      limit: isAll ? undefined : (request.limit ?? defaultLimit),
      columns: columns.map(({ name }) => name).filter((name) => name !== 'id' && name !== computedColumn),
      maxTimeMs: undefined,
    },
  };
}

function queryOf(condition: Condition, columns: readonly RowColumn[]) {
  const column = columns.find(({ name }) => name === condition.key);
  if (!column) throw new Error(`${condition.key} is not a column`);
  const field = column.name === 'id' ? '_id' : column.name;
  return { column: column.name, query: fieldQuery(field, condition, column.filterKey) };
}

/** What writes files of a form. */
export function writerOf(format: ExportFormat): Format {
  if (format === ExportFormat.CSV) return csvFormat;
  return format === ExportFormat.JSON ? jsonFormat : xlsxFormat;
}

/** Turns pages of documents into pages of cells. */
export async function* cellsOf(plan: ExportPlan, pages: AsyncIterable<readonly RowDocument[]>): Pages {
  for await (const page of pages) yield page.map((document) => cellsOfRow(document, plan));
}

function cellsOfRow(document: RowDocument, { columns, rows }: ExportPlan): Cell[] {
  return columns.map(({ name, spellingOfRank }) => {
    if (name === 'id') return document._id;
    const stored = name === computedColumn ? secondsSince(document, rows.now) : document[name];
    if (stored === null || stored === undefined) return null;
    if (stored instanceof Date) return stored.getTime() / 1000;
    if (spellingOfRank) return spellingOfRank.get(Number(stored)) ?? null;
    return stored as string | number;
  });
}

/** From the last message of the customer until the ticket was closed, or until now. */
function secondsSince({ lastCustomerMessageAt, closedAt }: RowDocument, now: number): number | null {
  if (!(lastCustomerMessageAt instanceof Date)) return null;
  const until = closedAt instanceof Date ? closedAt.getTime() / 1000 : now;
  return Math.floor(until - lastCustomerMessageAt.getTime() / 1000);
}
