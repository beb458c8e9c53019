import type {
  UpdateSettingsRequest,
  UpdateSettingsResponse,
} from '@ticketing/contracts/ticketing/settings/v1/settings_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { SettingParts } from './open.ts';
import { saveSettings } from './save.ts';

/** Changes several settings, all or none. Errors: those of `saveSettings`. Source: docs/reference/api.md, Settings. */
export async function updateSettings(
  parts: SettingParts,
  call: Call,
  request: UpdateSettingsRequest,
): Promise<UpdateSettingsResponse> {
  const requested = request.settings.map(({ name = '', value }, index) => ({
    name,
    value,
    pointer: `#/settings/${index}/value`,
  }));
  const settings = await saveSettings(parts, call, requested);
  return { $typeName: 'ticketing.settings.v1.UpdateSettingsResponse', success: true, settings };
}
