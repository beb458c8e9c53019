import type {
  CreateSubchannelRequest,
  CreateSubchannelResponse,
} from '@ticketing/contracts/ticketing/settings/v1/subchannel_service_pb.ts';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { eventHeaderOf } from '../setting/event-header.ts';
import { requireTemplate } from '../setting/require-references.ts';
import { addSubchannel, requireSubchannel } from './rules.ts';
import { subchannelMessage } from './to-proto.ts';

/**
 * Creates a subchannel. Errors: duplicate_subchannel, unknown_template, too_many_subchannels.
 * Source: docs/reference/api.md, Subchannels.
 */
export async function createSubchannel(
  context: Context,
  call: Call,
  request: CreateSubchannelRequest,
): Promise<CreateSubchannelResponse> {
  const { emailTemplateId } = request;
  if (emailTemplateId !== undefined) await requireTemplate(context, call, emailTemplateId, '#/emailTemplateId');
  const next = () => context.subchannelIds.next();
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
  const state = await context.configuration.change(
    (current) => addSubchannel(current, input, context.secretBox),
    eventHeaderOf(context, call),
  );
  const subchannel = subchannelMessage(requireSubchannel(state, id));
  return { $typeName: 'ticketing.settings.v1.CreateSubchannelResponse', subchannel };
}
