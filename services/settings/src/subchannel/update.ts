import type {
  UpdateSubchannelRequest,
  UpdateSubchannelResponse,
} from '@ticketing/contracts/ticketing/settings/v1/subchannel_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { eventHeaderOf } from '../setting/event-header.ts';
import { requireTemplate } from '../setting/require-references.ts';
import { changeSubchannel, requireSubchannel, type SubchannelInput } from './rules.ts';
import { subchannelMessage } from './to-proto.ts';

/**
 * Changes a subchannel. Errors: subchannel_not_found, duplicate_subchannel, unknown_template.
 * Source: docs/reference/api.md, Subchannels.
 */
export async function updateSubchannel(
  context: Context,
  call: Call,
  request: UpdateSubchannelRequest,
): Promise<UpdateSubchannelResponse> {
  const { emailTemplateId } = request;
  if (emailTemplateId !== undefined) await requireTemplate(context, call, emailTemplateId, '#/emailTemplateId');
  const input = inputOf(request);
  const state = await context.configuration.change(
    (current) => changeSubchannel(current, request.id, input, context.secretBox),
    eventHeaderOf(context, call),
  );
  const subchannel = subchannelMessage(requireSubchannel(state, request.id));
  return { $typeName: 'ticketing.settings.v1.UpdateSubchannelResponse', success: true, subchannel };
}

/** The fields that the mask names. The contract's rules have checked that a field without a value may be cleared. */
function inputOf(request: UpdateSubchannelRequest): Partial<SubchannelInput> {
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
