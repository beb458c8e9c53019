import type {
  FindWrapperRequest,
  FindWrapperResponse,
} from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { EmailTemplateParts } from './open.ts';
import { findFirst } from './wrappers.ts';

/**
 * Reads the text of the first e-mail template of a list that exists.
 * Source: docs/reference/api.md, E-mail templates.
 */
export async function findWrapper(
  parts: EmailTemplateParts,
  _call: Call,
  { emailTemplateIds }: FindWrapperRequest,
): Promise<FindWrapperResponse> {
  const wrapper = await findFirst(parts, emailTemplateIds);
  return { $typeName: 'ticketing.templates.v1.FindWrapperResponse', ...(wrapper && { template: wrapper.template }) };
}
