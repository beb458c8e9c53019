import type { HttpBody } from '@ticketing/contracts/ticketing/api/v1/http_body_pb.ts';
import {
  ExportStatus,
  type GetReportingExportFileRequest,
  type GetReportingExportFileResponse,
} from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { attachmentHeaders, bodyHead, bodyPiece } from '@ticketing/rest/routes/http-body.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { findOwnExport } from './find-own.ts';
import type { ExportParts } from './open.ts';
import { findFileFormat } from './plan.ts';
import { exportFileName } from './to-proto.ts';

/**
 * Returns the file of an export.
 *
 * Errors: export_not_found; export_withdrawn; export_not_finished, also for a failed export.
 */
export async function* getReportingExportFile(
  parts: ExportParts,
  call: Call,
  { exportId }: GetReportingExportFileRequest,
): AsyncGenerator<GetReportingExportFileResponse> {
  const job = await findOwnExport(parts, call, exportId);
  if (job.status === ExportStatus.WITHDRAWN) {
    throw withdrawn('The file was removed because a ticket in it was deleted. Request a new export.');
  }
  if (job.status !== ExportStatus.FINISHED) {
    throw new DomainError('failed_precondition', 'export_not_finished', 'The export is not finished.');
  }
  const { reportingPrivacyLevel } = await parts.settings();
  if (job.isPersonal && reportingPrivacyLevel === 'pseudonymized') {
    throw withdrawn('The file contains personal data, which exports may not contain any more. Request a new export.');
  }
  const { contentType, fileEnding } = findFileFormat(job.format);
  const headers = {
    ...attachmentHeaders(exportFileName(job.createdAt, fileEnding)),
    'content-length': String(job.fileBytes),
    'x-total-count': String(job.matches ?? job.rows),
  };
  yield toResponse(bodyHead(contentType, headers));
  for await (const piece of parts.exports.readFile(job)) yield toResponse(bodyPiece(piece as unknown as Uint8Array));
}

function toResponse(body: HttpBody): GetReportingExportFileResponse {
  return { $typeName: 'ticketing.reporting.v1.GetReportingExportFileResponse', body };
}

function withdrawn(detail: string): DomainError {
  return new DomainError('not_found', 'export_withdrawn', detail);
}
