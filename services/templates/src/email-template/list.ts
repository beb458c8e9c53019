import type {
  ListEmailTemplatesRequest,
  ListEmailTemplatesResponse,
} from '@ticketing/contracts/ticketing/templates/v1/email_template_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { takePage } from '@ticketing/store/paging/page-budget.ts';
import type { EmailTemplateParts } from './open.ts';
import { emailTemplateToProto } from './to-proto.ts';

/** Lists e-mail templates by id. Errors: page_too_large, too_much_at_once. Source: docs/reference/api.md, E-mail templates. */
export async function listEmailTemplates(
  { emailTemplates, pages }: EmailTemplateParts,
  call: Call,
  { limit = 100, offset = 0 }: ListEmailTemplatesRequest,
): Promise<ListEmailTemplatesResponse> {
  const { total, entries } = await emailTemplates.list(offset, limit);
  const sizes = entries.map(({ bytes }) => bytes);
  const isLarge = await takePage(pages, callerKey(call.caller), sizes, call);
  const page = await emailTemplates.findSome(entries.map(({ id }) => id));
  const response: ListEmailTemplatesResponse = {
    $typeName: 'ticketing.templates.v1.ListEmailTemplatesResponse',
    success: true,
    emailTemplates: page.map(emailTemplateToProto),
    total,
    offset,
    limit,
  };
  return isLarge ? markAsLarge(response) : response;
}
