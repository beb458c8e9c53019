import type { Configuration } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';

/** The settings that this service reads. */
export interface TemplateSettings {
  /** The e-mail template around messages whose template names none. */
  genericTemplateId: number | undefined;
}

/** Picks the settings that this service reads. */
export function readSettings({ settings }: Configuration): TemplateSettings {
  return { genericTemplateId: settings?.genericTemplateId };
}
