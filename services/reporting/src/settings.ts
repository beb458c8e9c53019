import { ExportFormat } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';

/** The settings that this service asks for. */
export interface ReportingSettings {
  /** Whether exports tell of persons: `pseudonymized` leaves `email` and `rawData` out. */
  reportingPrivacyLevel: 'none' | 'pseudonymized';
  /** The form of an export that names none. */
  defaultDateExportFormat: ExportFormat;
}

/** Where settings come from. */
export type ReadSettings = () => Promise<ReportingSettings>;

/** The defaults of decisions.md section 10. */
export const defaultSettings: ReadSettings = async () => ({
  reportingPrivacyLevel: 'none',
  defaultDateExportFormat: ExportFormat.XLSX,
});
