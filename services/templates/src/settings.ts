import type { Configuration } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { type FileSettings, readFileSettings } from '@ticketing/files/file-quota.ts';

/** The settings that this service reads. */
export interface TemplateSettings extends FileSettings {
  /** The e-mail template around messages whose template names none. */
  genericTemplateId: number | undefined;
}

/** Picks the settings that this service reads. */
export function readSettings(configuration: Configuration): TemplateSettings {
  return { genericTemplateId: configuration.settings?.genericTemplateId, ...readFileSettings(configuration) };
}
