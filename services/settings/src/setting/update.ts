import type {
  UpdateSettingRequest,
  UpdateSettingResponse,
} from '@ticketing/contracts/ticketing/settings/v1/settings_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { SettingParts } from './open.ts';
import { saveSettings } from './save.ts';

/** Changes a setting. Errors: those of `saveSettings`. Source: docs/reference/api.md, Settings. */
export async function updateSetting(
  parts: SettingParts,
  call: Call,
  { name, value }: UpdateSettingRequest,
): Promise<UpdateSettingResponse> {
  const [setting] = await saveSettings(parts, call, [{ name, value, pointer: '#/value' }]);
  if (!setting) throw new Error('the setting was not changed');
  return { $typeName: 'ticketing.settings.v1.UpdateSettingResponse', success: true, setting };
}
