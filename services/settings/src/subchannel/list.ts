import type {
  ListSubchannelsRequest,
  ListSubchannelsResponse,
} from '@ticketing/contracts/ticketing/settings/v1/subchannel_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { subchannelMessage } from './to-proto.ts';

/** Lists the subchannels of a channel, or all, by id. Source: docs/reference/api.md, Subchannels. */
export async function listSubchannels(
  context: Context,
  _call: Call,
  { channel }: ListSubchannelsRequest,
): Promise<ListSubchannelsResponse> {
  const { subchannels: all } = await context.configuration.read();
  const subchannels = all.filter((one) => channel === undefined || one.channel === channel).map(subchannelMessage);
  return { $typeName: 'ticketing.settings.v1.ListSubchannelsResponse', success: true, subchannels };
}
