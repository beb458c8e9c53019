import { ExportFormat } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import type { Configuration } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { ExportFileFormat, ReportingPrivacyLevel } from '@ticketing/contracts/ticketing/settings/v1/settings_pb.ts';
import { defaultConfiguration } from '@ticketing/service-kit/settings/settings-copy.ts';

/** The settings that this service reads. */
export interface ReportingSettings {
  /** Whether exports contain personal data: `pseudonymized` leaves out the columns `email` and `rawData`. */
  reportingPrivacyLevel: 'none' | 'pseudonymized';
  /** The format of an export whose request names none. */
  defaultDateExportFormat: ExportFormat;
}

const formats = new Map<ExportFileFormat, ExportFormat>([
  [ExportFileFormat.XLSX, ExportFormat.XLSX],
  [ExportFileFormat.CSV, ExportFormat.CSV],
  [ExportFileFormat.JSON, ExportFormat.JSON],
]);

/** Picks the settings that this service reads. */
export function readSettings({ settings }: Configuration): ReportingSettings {
  const isPseudonymized = settings?.reportingPrivacyLevel === ReportingPrivacyLevel.PSEUDONYMIZED;
  return {
    reportingPrivacyLevel: isPseudonymized ? 'pseudonymized' : 'none',
    defaultDateExportFormat:
      formats.get(settings?.defaultDateExportFormat ?? ExportFileFormat.XLSX) ?? ExportFormat.XLSX,
  };
}

/** The default settings. */
export const defaultSettings: ReportingSettings = readSettings(defaultConfiguration);
