import type {
  CreateSubchannelRequest,
  CreateSubchannelResponse,
} from '@ticketing/contracts/ticketing/settings/v1/subchannel_service_pb.ts';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { requireTemplate } from '../setting/require-references.ts';
import type { SubchannelParts } from './open.ts';
import { addSubchannel, requireSubchannel } from './rules.ts';
import { subchannelToProto } from './to-proto.ts';

/**
 * Creates a subchannel. Errors: duplicate_subchannel, unknown_template, too_many_subchannels.
 * Source: docs/reference/api.md, Subchannels.
 */
export async function createSubchannel(
  parts: SubchannelParts,
  call: Call,
  request: CreateSubchannelRequest,
): Promise<CreateSubchannelResponse> {
  const { settings, subchannelIds, secretBox, newEvent } = parts;
  const { emailTemplateId } = request;
  if (emailTemplateId !== undefined) await requireTemplate(parts, call, emailTemplateId, '#/emailTemplateId');
  const next = () => subchannelIds.next();
  const id = call.idempotency ? await call.idempotency.reserve('subchannel', next) : await next();
  const input = {
    id,
    channel: request.channel ?? Channel.UNSPECIFIED,
    name: (request.name ?? '').trim(),
    isDefault: request.isDefault ?? false,
    interface: request.interface ?? 'internal',
    enabled: request.enabled ?? true,
    emailTemplateId: emailTemplateId ?? null,
    data: request.data ?? {},
  };
  const after = await settings.change((current) => addSubchannel(current, input, secretBox), newEvent(call));
  const subchannel = subchannelToProto(requireSubchannel(after, id));
  return { $typeName: 'ticketing.settings.v1.CreateSubchannelResponse', subchannel };
}
