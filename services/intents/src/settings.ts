import type { Configuration } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { AiProvider } from '@ticketing/contracts/ticketing/settings/v1/settings_pb.ts';
import type { DetectionSettings } from './detection/configured.ts';

/** Picks the settings that this service reads. */
export function readSettings({ settings, version }: Configuration): DetectionSettings {
  return {
    aiProvider: settings?.aiProvider === AiProvider.OPENAI ? 'openai' : 'builtin',
    aiBaseUrl: settings?.aiBaseUrl ?? null,
    aiModel: settings?.aiModel ?? null,
    version,
  };
}
