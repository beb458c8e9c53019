import type {
  FindWrapperRequest,
  FindWrapperResponse,
} from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { firstEmailTemplate } from '../template/to-proto.ts';

/**
 * Reads the text of the first e-mail template of a list that exists.
 * Source: docs/reference/api.md, E-mail templates.
 */
export async function findWrapper(
  context: Context,
  _call: Call,
  { emailTemplateIds }: FindWrapperRequest,
): Promise<FindWrapperResponse> {
  const found = await firstEmailTemplate(context, emailTemplateIds);
  return { $typeName: 'ticketing.templates.v1.FindWrapperResponse', ...(found ? { template: found.template } : {}) };
}
