import { ExportFormat } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';

/** The settings that this service reads. */
export interface ReportingSettings {
  /** Whether exports tell of persons: `pseudonymized` leaves `email` and `rawData` out. */
  reportingPrivacyLevel: 'none' | 'pseudonymized';
  /** The format of an export that names none. */
  defaultDateExportFormat: ExportFormat;
}

/** Their defaults. Source: decisions.md section 10. */
export const defaultSettings: ReportingSettings = {
  reportingPrivacyLevel: 'none',
  defaultDateExportFormat: ExportFormat.XLSX,
};
