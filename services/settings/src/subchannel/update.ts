import type {
  UpdateSubchannelRequest,
  UpdateSubchannelResponse,
} from '@ticketing/contracts/ticketing/settings/v1/subchannel_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { requireTemplate } from '../setting/require-references.ts';
import type { SubchannelParts } from './open.ts';
import { changeSubchannel, requireSubchannel, type SubchannelInput } from './rules.ts';
import { subchannelToProto } from './to-proto.ts';

/**
 * Changes a subchannel. Errors: subchannel_not_found, duplicate_subchannel, unknown_template.
 * Source: docs/reference/api.md, Subchannels.
 */
export async function updateSubchannel(
  parts: SubchannelParts,
  call: Call,
  request: UpdateSubchannelRequest,
): Promise<UpdateSubchannelResponse> {
  const { settings, secretBox, newEvent } = parts;
  const { id, emailTemplateId } = request;
  if (emailTemplateId !== undefined) await requireTemplate(parts, call, emailTemplateId, '#/emailTemplateId');
  const input = toInput(request);
  const after = await settings.change((current) => changeSubchannel(current, id, input, secretBox), newEvent(call));
  const subchannel = subchannelToProto(requireSubchannel(after, id));
  return { $typeName: 'ticketing.settings.v1.UpdateSubchannelResponse', success: true, subchannel };
}

/** Returns the fields that the mask names. The contract's rules have checked that a field without a value may be cleared. */
function toInput(request: UpdateSubchannelRequest): Partial<SubchannelInput> {
  const values: Record<string, object> = {
    name: { name: request.name?.trim() },
    is_default: { isDefault: request.isDefault },
    interface: { interface: request.interface },
    enabled: { enabled: request.enabled },
    email_template_id: { emailTemplateId: request.emailTemplateId ?? null },
    data: { data: request.data },
  };
  return Object.assign({}, ...(request.updateMask?.paths ?? []).map((path) => values[path]));
}
