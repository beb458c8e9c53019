import type {
  ListEmailTemplatesRequest,
  ListEmailTemplatesResponse,
} from '@ticketing/contracts/ticketing/templates/v1/email_template_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { isLargePage, requirePageSize } from '@ticketing/store/paging/page-budget.ts';
import type { Context } from '../context.ts';
import { emailTemplateMessage } from '../template/to-proto.ts';

/** Lists e-mail templates by id. Errors: page_too_large, too_much_at_once. Source: docs/reference/api.md, E-mail templates. */
export async function listEmailTemplates(
  { emailTemplates, pages }: Context,
  call: Call,
  { limit = 100, offset = 0 }: ListEmailTemplatesRequest,
): Promise<ListEmailTemplatesResponse> {
  const { total, entries } = await emailTemplates.list(offset, limit);
  const sizes = entries.map(({ bytes }) => bytes);
  requirePageSize(sizes);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  await pages.take(callerKey(call.caller), bytes, call);
  const found = await emailTemplates.findSome(entries.map(({ id }) => id));
  const response: ListEmailTemplatesResponse = {
    $typeName: 'ticketing.templates.v1.ListEmailTemplatesResponse',
    success: true,
    emailTemplates: found.map(emailTemplateMessage),
    total,
    offset,
    limit,
  };
  return isLargePage(sizes) ? markAsLarge(response) : response;
}
