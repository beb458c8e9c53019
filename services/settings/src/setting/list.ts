import type {
  ListSettingsRequest,
  ListSettingsResponse,
} from '@ticketing/contracts/ticketing/settings/v1/settings_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { SettingParts } from './open.ts';
import { settingsOfCategory, settingToProto } from './to-proto.ts';

/** Lists the settings of a category, or all. Errors: setting_category_not_found. Source: docs/reference/api.md, Settings. */
export async function listSettings(
  { settings: store }: SettingParts,
  _call: Call,
  { category }: ListSettingsRequest,
): Promise<ListSettingsResponse> {
  const known = settingsOfCategory(category);
  const state = await store.read();
  const settings = known.map((one) => settingToProto(one, state));
  return { $typeName: 'ticketing.settings.v1.ListSettingsResponse', success: true, settings };
}
