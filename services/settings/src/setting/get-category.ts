import type {
  GetSettingsOfCategoryRequest,
  GetSettingsOfCategoryResponse,
} from '@ticketing/contracts/ticketing/settings/v1/settings_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { SettingParts } from './open.ts';
import { categoryNamed, categoryTitle, groupComments, settingsOfCategory, settingToProto } from './to-proto.ts';

/** Returns the settings of a category in groups. Errors: setting_category_not_found. Source: docs/reference/api.md, Settings. */
export async function getSettingsOfCategory(
  { settings }: SettingParts,
  _call: Call,
  { category }: GetSettingsOfCategoryRequest,
): Promise<GetSettingsOfCategoryResponse> {
  const known = settingsOfCategory(category);
  const state = await settings.read();
  const groups = [...Map.groupBy(known, ({ form }) => form.group)].map(([group, ofGroup]) => ({
    $typeName: 'ticketing.settings.v1.SettingsGroup' as const,
    name: groupComments(group).summary,
    description: groupComments(group).rest,
    settings: ofGroup.map((one) => settingToProto(one, state)),
  }));
  const title = categoryTitle(categoryNamed(category));
  return { $typeName: 'ticketing.settings.v1.GetSettingsOfCategoryResponse', title, groups };
}
