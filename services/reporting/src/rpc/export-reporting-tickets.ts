import { toBinary } from '@bufbuild/protobuf';
import type { HttpBody } from '@ticketing/contracts/ticketing/api/v1/http_body_pb.ts';
import {
  type ExportReportingTicketsRequest,
  ExportReportingTicketsRequestSchema,
  type ExportReportingTicketsResponse,
  ReportingExportSchema,
} from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import { messageEncoder } from '@ticketing/rest/encode.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from '../application/context.ts';
import { cellsOf, type ExportPlan, planExport } from '../application/export-plan.ts';
import { attachment, headOf, pieceOf } from '../application/http-body.ts';
import { exportMessage, exportPath, requesterOf } from './get-reporting-export.ts';

/** The exports of one person that may be under way. */
const mostAtOnce = 5;
/** How long rows are looked for while the caller waits. */
const maxTimeMs = 10_000;
const encodeExport = messageEncoder(ReportingExportSchema);

/**
 * Exports rows: at once, or, if the caller prefers that, later.
 *
 * Errors: invalid_filter, unknown_order, not_allowed; too_many_exports.
 * Source: specification, GET /export/reporting_tickets; decisions.md section 11.
 */
export async function* exportReportingTickets(
  context: Context,
  call: Call,
  request: ExportReportingTicketsRequest,
): AsyncGenerator<ExportReportingTicketsResponse> {
  const plan = planExport(request, await context.settings(), context.now());
  if (prefersAsync(call.header('prefer'))) {
    for (const body of await exportLater(context, call, request, plan)) yield part(body);
    return;
  }
  if (request.all) {
    const detail = 'takes a header Prefer: respond-async';
    throw invalidInput([{ pointer: '#/all', code: 'not_allowed', detail }]);
  }
  const rows = { ...plan.rows, maxTimeMs };
  const total = await context.rows.count(rows);
  const headers = {
    ...attachment(plan.writer.fileEnding, new Date(plan.rows.now * 1000)),
    'x-total-count': String(total),
  };
  yield part(headOf(plan.writer.contentType, headers));
  const cells = cellsOf(plan, context.rows.pages(rows));
  for await (const piece of plan.writer.write(plan.columns, cells)) yield part(pieceOf(piece));
}

function part(body: HttpBody): ExportReportingTicketsResponse {
  return { $typeName: 'ticketing.reporting.v1.ExportReportingTicketsResponse', body };
}

/** Source: RFC 7240. */
function prefersAsync(prefer: string | undefined): boolean {
  return (prefer ?? '')
    .split(',')
    .some((preference) => preference.split(';')[0]?.trim().toLowerCase() === 'respond-async');
}

async function exportLater(
  context: Context,
  call: Call,
  request: ExportReportingTicketsRequest,
  plan: ExportPlan,
): Promise<HttpBody[]> {
  const job = await context.exports.add(
    {
      requestedBy: requesterOf(call),
      request: toBinary(ExportReportingTicketsRequestSchema, request),
      format: plan.format,
    },
    mostAtOnce,
  );
  if (!job) {
    const detail = `${mostAtOnce} exports of yours are not finished yet.`;
    throw new DomainError('resource_exhausted', 'too_many_exports', detail, { retryAfterSeconds: 10 });
  }
  context.exportWorker?.wake();
  const headers = { location: exportPath(job.id), 'preference-applied': 'respond-async' };
  const json = JSON.stringify(encodeExport(exportMessage(job)));
  return [headOf('application/json; charset=utf-8', headers, 202), pieceOf(Buffer.from(json))];
}
