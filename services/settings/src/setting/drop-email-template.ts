import type {
  DropEmailTemplateRequest,
  DropEmailTemplateResponse,
} from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { SettingParts } from './open.ts';
import { dropEmailTemplate as drop } from './rules/email-template-reference.ts';

/**
 * Removes a deleted e-mail template from the setting and the subchannels that name it.
 * Source: docs/reference/api.md, E-mail templates.
 */
export async function dropEmailTemplate(
  { settings, newEvent }: SettingParts,
  call: Call,
  { emailTemplateId }: DropEmailTemplateRequest,
): Promise<DropEmailTemplateResponse> {
  await settings.change((current) => drop(current, emailTemplateId), newEvent(call));
  return { $typeName: 'ticketing.settings.v1.DropEmailTemplateResponse' };
}
