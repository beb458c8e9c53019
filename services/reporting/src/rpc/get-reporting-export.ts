import {
  ExportStatus,
  type GetReportingExportRequest,
  type GetReportingExportResponse,
  type ReportingExport,
} from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { timestampOf } from '@ticketing/rest/date-time.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from '../application/context.ts';
import type { ExportJob } from '../store/export-store.ts';

/** How long an export and its file are kept. */
export const keptMs = 24 * 60 * 60 * 1000;

/** Tells how far an export is. Errors: export_not_found, also for one of somebody else. */
export async function getReportingExport(
  context: Context,
  call: Call,
  { exportId }: GetReportingExportRequest,
): Promise<GetReportingExportResponse> {
  const job = await ownExport(context, call, exportId);
  return { $typeName: 'ticketing.reporting.v1.GetReportingExportResponse', export: exportMessage(job) };
}

/** An export that the caller asked for. Errors: export_not_found. */
export async function ownExport(context: Context, call: Call, id: string): Promise<ExportJob> {
  const job = await context.exports.find(id);
  if (!job || job.requestedBy !== requesterOf(call)) throw notFound('Export');
  return job;
}

/** Who asks for an export, and may see it. */
export function requesterOf({ caller }: Call): string {
  return `${caller.kind} ${caller.profileId ?? caller.service}`;
}

/** Where an export tells how far it is. */
export function exportPath(id: string): string {
  return `/export/reporting_tickets/${id}`;
}

/** The message of an export. */
export function exportMessage(job: ExportJob): ReportingExport {
  const time = (at: Date) => timestampOf(Math.floor(at.getTime() / 1000));
  return {
    $typeName: 'ticketing.reporting.v1.ReportingExport',
    id: job.id,
    status: job.status,
    format: job.format,
    rows: job.rows,
    ...(job.total === null ? {} : { total: job.total }),
    createdAt: time(job.createdAt),
    ...(job.finishedAt === null ? {} : { finishedAt: time(job.finishedAt) }),
    expiresAt: time(new Date(job.createdAt.getTime() + keptMs)),
    ...(job.status === ExportStatus.FINISHED ? { url: `${exportPath(job.id)}/file` } : {}),
  };
}
