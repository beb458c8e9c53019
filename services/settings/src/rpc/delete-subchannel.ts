import type {
  DeleteSubchannelRequest,
  DeleteSubchannelResponse,
} from '@ticketing/contracts/ticketing/settings/v1/subchannel_service_pb.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from '../application/context.ts';
import { eventHeaderOf } from '../application/event-header.ts';
import { removeSubchannel } from '../domain/subchannel.ts';

/** Deletes a subchannel. Errors: subchannel_not_found. Source: docs/reference/api.md, Subchannels. */
export async function deleteSubchannel(
  context: Context,
  call: Call,
  { id }: DeleteSubchannelRequest,
): Promise<DeleteSubchannelResponse> {
  await context.configuration.change((current) => removeSubchannel(current, id), eventHeaderOf(context, call));
  return { $typeName: 'ticketing.settings.v1.DeleteSubchannelResponse', success: true };
}
