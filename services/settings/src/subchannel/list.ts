import type {
  ListSubchannelsRequest,
  ListSubchannelsResponse,
} from '@ticketing/contracts/ticketing/settings/v1/subchannel_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { SubchannelParts } from './open.ts';
import { subchannelToProto } from './to-proto.ts';

/** Lists the subchannels of a channel, or all, by id. Source: docs/reference/api.md, Subchannels. */
export async function listSubchannels(
  { settings }: SubchannelParts,
  _call: Call,
  { channel }: ListSubchannelsRequest,
): Promise<ListSubchannelsResponse> {
  const { subchannels: all } = await settings.read();
  const subchannels = all.filter((one) => channel === undefined || one.channel === channel).map(subchannelToProto);
  return { $typeName: 'ticketing.settings.v1.ListSubchannelsResponse', success: true, subchannels };
}
