import type {
  DeleteSubchannelRequest,
  DeleteSubchannelResponse,
} from '@ticketing/contracts/ticketing/settings/v1/subchannel_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { eventHeaderOf } from '../setting/event-header.ts';
import { removeSubchannel } from './rules.ts';

/** Deletes a subchannel. Errors: subchannel_not_found, subchannel_in_use. Source: docs/reference/api.md, Subchannels. */
export async function deleteSubchannel(
  context: Context,
  call: Call,
  { id }: DeleteSubchannelRequest,
): Promise<DeleteSubchannelResponse> {
  const webhook = (await context.webhooks.all()).find(({ subchannelIds }) => subchannelIds.includes(id));
  if (webhook) {
    const detail = `The webhook endpoint ${webhook.id} names the subchannel.`;
    throw new DomainError('failed_precondition', 'subchannel_in_use', detail);
  }
  await context.configuration.change((current) => removeSubchannel(current, id), eventHeaderOf(context, call));
  return { $typeName: 'ticketing.settings.v1.DeleteSubchannelResponse', success: true };
}
