import { create } from '@bufbuild/protobuf';
import { type Subchannel, SubchannelSchema } from '@ticketing/contracts/ticketing/settings/v1/subchannel_service_pb.ts';
import type { SubchannelState } from '../setting/rules/settings.ts';

/** Converts a subchannel, without its secrets. */
export function subchannelToProto({ secrets: _, emailTemplateId, ...shown }: SubchannelState): Subchannel {
  return create(SubchannelSchema, { ...shown, ...(emailTemplateId === null ? {} : { emailTemplateId }) });
}
