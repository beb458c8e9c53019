import type {
  UpdateSettingsRequest,
  UpdateSettingsResponse,
} from '@ticketing/contracts/ticketing/settings/v1/settings_service_pb.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { setValues } from '../application/change-settings.ts';
import type { Context } from '../application/context.ts';

/** Changes several settings, all or none. Errors: as of `setValues`. Source: docs/reference/api.md, Settings. */
export async function updateSettings(
  context: Context,
  call: Call,
  request: UpdateSettingsRequest,
): Promise<UpdateSettingsResponse> {
  const given = request.settings.map(({ name = '', value }, index) => ({
    name,
    value,
    pointer: `#/settings/${index}/value`,
  }));
  const settings = await setValues(context, call, given);
  return { $typeName: 'ticketing.settings.v1.UpdateSettingsResponse', success: true, settings };
}
