import {
  ExportStatus,
  type GetReportingExportFileRequest,
  type GetReportingExportFileResponse,
} from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from '../application/context.ts';
import { writerOf } from '../application/export-plan.ts';
import { attachment, headOf, pieceOf } from '../application/http-body.ts';
import { ownExport } from './get-reporting-export.ts';

/**
 * Answers the file of an export.
 *
 * Errors: export_not_found; export_withdrawn; export_not_finished, also for one that failed.
 */
export async function* getReportingExportFile(
  context: Context,
  call: Call,
  { exportId }: GetReportingExportFileRequest,
): AsyncGenerator<GetReportingExportFileResponse> {
  const job = await ownExport(context, call, exportId);
  if (job.status === ExportStatus.WITHDRAWN) {
    const detail = 'The file held a ticket that was deleted, and was removed with it; ask for a new export.';
    throw new DomainError('not_found', 'export_withdrawn', detail);
  }
  if (job.status !== ExportStatus.FINISHED) {
    throw new DomainError('failed_precondition', 'export_not_finished', 'The export is not finished.');
  }
  const { reportingPrivacyLevel } = await context.settings();
  if (job.isPersonal && reportingPrivacyLevel === 'pseudonymized') {
    const detail = 'The file tells of persons, which exports may no longer do; ask for a new export.';
    throw new DomainError('not_found', 'export_withdrawn', detail);
  }
  const writer = writerOf(job.format);
  const headers = {
    ...attachment(writer.fileEnding, job.createdAt),
    'content-length': String(job.fileBytes),
    'x-total-count': String(job.matches ?? job.rows),
  };
  yield {
    $typeName: 'ticketing.reporting.v1.GetReportingExportFileResponse',
    body: headOf(writer.contentType, headers),
  };
  for await (const piece of context.exports.readFile(job)) {
    yield {
      $typeName: 'ticketing.reporting.v1.GetReportingExportFileResponse',
      body: pieceOf(piece as unknown as Uint8Array),
    };
  }
}
