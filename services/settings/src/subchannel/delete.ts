import type {
  DeleteSubchannelRequest,
  DeleteSubchannelResponse,
} from '@ticketing/contracts/ticketing/settings/v1/subchannel_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { SubchannelParts } from './open.ts';
import { removeSubchannel } from './rules.ts';

/** Deletes a subchannel. Errors: subchannel_not_found, subchannel_in_use. Source: docs/reference/api.md, Subchannels. */
export async function deleteSubchannel(
  { settings, findEndpoint, newEvent }: SubchannelParts,
  call: Call,
  { id }: DeleteSubchannelRequest,
): Promise<DeleteSubchannelResponse> {
  const webhookId = await findEndpoint(id);
  if (webhookId !== undefined) {
    const detail = `The webhook endpoint ${webhookId} names the subchannel.`;
    throw new DomainError('failed_precondition', 'subchannel_in_use', detail);
  }
  await settings.change((current) => removeSubchannel(current, id), newEvent(call));
  return { $typeName: 'ticketing.settings.v1.DeleteSubchannelResponse', success: true };
}
