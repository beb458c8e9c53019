import { ExportFormat } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';

/** The settings that this service reads. */
export interface ReportingSettings {
  /** Whether exports contain personal data: `pseudonymized` leaves out the columns `email` and `rawData`. */
  reportingPrivacyLevel: 'none' | 'pseudonymized';
  /** The format of an export whose request names none. */
  defaultDateExportFormat: ExportFormat;
}

/** The default settings. Source: docs/reference/api.md, Settings. */
export const defaultSettings: ReportingSettings = {
  reportingPrivacyLevel: 'none',
  defaultDateExportFormat: ExportFormat.XLSX,
};
