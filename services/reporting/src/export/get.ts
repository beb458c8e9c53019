import type {
  GetReportingExportRequest,
  GetReportingExportResponse,
} from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { findOwnExport } from './find-own.ts';
import type { ExportParts } from './open.ts';
import { exportToProto } from './to-proto.ts';

/** Returns the status of an export. Errors: export_not_found, also for an export of another caller. */
export async function getReportingExport(
  parts: ExportParts,
  call: Call,
  { exportId }: GetReportingExportRequest,
): Promise<GetReportingExportResponse> {
  const job = await findOwnExport(parts, call, exportId);
  return { $typeName: 'ticketing.reporting.v1.GetReportingExportResponse', export: exportToProto(job) };
}
