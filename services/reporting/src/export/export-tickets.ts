import { toBinary } from '@bufbuild/protobuf';
import type { HttpBody } from '@ticketing/contracts/ticketing/api/v1/http_body_pb.ts';
import {
  type ExportReportingTicketsRequest,
  ExportReportingTicketsRequestSchema,
  type ExportReportingTicketsResponse,
  ReportingExportSchema,
} from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import { messageEncoder } from '@ticketing/rest/codec/encode.ts';
import { attachmentHeaders, bodyHead, bodyPiece } from '@ticketing/rest/routes/http-body.ts';
import { prefers } from '@ticketing/rest/routes/prefer.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { requireSpace } from '@ticketing/store/connection/free-space.ts';
import { describeRequester } from './find-own.ts';
import type { ExportParts } from './open.ts';
import { pageAdmission } from './page-admission.ts';
import { type ExportPlan, planExport, toCells } from './plan.ts';
import { exportFileName, exportPath, exportToProto } from './to-proto.ts';

/** How many unfinished exports a caller may have. */
const maxUnfinished = 5;
/** How long the database may search while the caller waits. */
const maxSearchMs = 10_000;
const encodeExport = messageEncoder(ReportingExportSchema);

/**
 * Exports rows: in this response, or in the background if the caller prefers `respond-async`.
 *
 * Errors: invalid_filter, unknown_order, not_allowed; too_many_exports; search_too_slow, too_much_at_once.
 * Source: docs/reference/api.md, Exports.
 */
export async function* exportReportingTickets(
  parts: ExportParts,
  call: Call,
  request: ExportReportingTicketsRequest,
): AsyncGenerator<ExportReportingTicketsResponse> {
  const plan = planExport(request, await parts.settings(), secondsNow(parts.runtime));
  if (prefers(call.header('prefer'), 'respond-async')) {
    for (const body of await exportInBackground(parts, call, request, plan)) yield toResponse(body);
    return;
  }
  if (request.all) {
    const detail = 'requires the header Prefer: respond-async';
    throw invalidInput([{ pointer: '#/all', code: 'not_allowed', detail }]);
  }
  const { fileFormat, columns } = plan;
  const rows = { ...plan.rows, maxTimeMs: maxSearchMs };
  const total = await parts.rows.count(rows);
  const headers = {
    ...attachmentHeaders(exportFileName(new Date(rows.now * 1000), fileFormat.fileEnding)),
    'x-total-count': String(total),
  };
  const pages = parts.rows.pages(rows, pageAdmission(call, parts.pages));
  try {
    // Read before the response begins, so that an error of it has a status.
    const first = await pages.next();
    yield toResponse(bodyHead(fileFormat.contentType, headers));
    const cells = toCells(plan, continued(first, pages));
    for await (const piece of fileFormat.write(columns, cells)) yield toResponse(bodyPiece(piece));
  } finally {
    await pages.return(undefined);
  }
}

async function* continued<Page>(first: IteratorResult<Page>, rest: AsyncIterable<Page>): AsyncGenerator<Page> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

function toResponse(body: HttpBody): ExportReportingTicketsResponse {
  return { $typeName: 'ticketing.reporting.v1.ExportReportingTicketsResponse', body };
}

/** Records an export for the export worker, and describes it in a response with status 202. */
async function exportInBackground(
  parts: ExportParts,
  call: Call,
  request: ExportReportingTicketsRequest,
  plan: ExportPlan,
): Promise<HttpBody[]> {
  requireSpace(parts.space);
  const job = await parts.exports.add(
    {
      requestedBy: describeRequester(call),
      request: toBinary(ExportReportingTicketsRequestSchema, request),
      format: plan.format,
    },
    maxUnfinished,
  );
  if (!job) {
    const detail = `This caller has ${maxUnfinished} unfinished exports already.`;
    throw new DomainError('resource_exhausted', 'too_many_exports', detail, { retryAfterSeconds: 10 });
  }
  parts.worker.wake();
  const headers = { location: exportPath(job.id), 'preference-applied': 'respond-async' };
  const json = JSON.stringify(encodeExport(exportToProto(job)));
  return [bodyHead('application/json; charset=utf-8', headers, 202), bodyPiece(Buffer.from(json))];
}
