import { ExportStatus, type ReportingExport } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { ExportJob } from './schema.ts';

/** How long an export and its file are kept. */
export const exportRetentionMs = 24 * 60 * 60 * 1000;

/** Returns the path of an export, where clients poll its status. */
export function exportPath(id: string): string {
  return `/export/reporting_tickets/${id}`;
}

/** Converts an export to its protobuf form. */
export function exportToProto(job: ExportJob): ReportingExport {
  const time = (at: Date) => toTimestamp(Math.floor(at.getTime() / 1000));
  return {
    $typeName: 'ticketing.reporting.v1.ReportingExport',
    id: job.id,
    status: job.status,
    format: job.format,
    rows: job.rows,
    ...(job.total === null ? {} : { total: job.total }),
    createdAt: time(job.createdAt),
    ...(job.finishedAt === null ? {} : { finishedAt: time(job.finishedAt) }),
    expiresAt: time(new Date(job.createdAt.getTime() + exportRetentionMs)),
    ...(job.status === ExportStatus.FINISHED ? { url: `${exportPath(job.id)}/file` } : {}),
  };
}

/** Returns the name under which a browser saves an export that was created at a time. */
export function exportFileName(createdAt: Date, fileEnding: string): string {
  return `reporting_tickets_${createdAt.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z.${fileEnding}`;
}
