import type {
  ListTemplatesRequest,
  ListTemplatesResponse,
} from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { isLargePage, requirePageSize } from '@ticketing/store/paging/page-budget.ts';
import type { Context } from '../context.ts';
import type { TemplateEntry } from './store.ts';
import { messageBytes, templateMessage, wrapperIds, wrappersOf } from './to-proto.ts';

/**
 * Lists response templates by id.
 *
 * Errors: page_too_large, search_too_slow, too_much_at_once. Source: docs/reference/api.md, Templates.
 */
export async function listTemplates(
  context: Context,
  call: Call,
  { q, tagId, limit = 100, offset = 0 }: ListTemplatesRequest,
): Promise<ListTemplatesResponse> {
  const { total, entries } = await context.templates.list({ q, tagId }, offset, limit);
  const sizes = await sizesOf(context, entries);
  requirePageSize(sizes);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  await context.pages.take(callerKey(call.caller), bytes, call);
  const found = await context.templates.findSome(entries.map(({ id }) => id));
  const wrappers = await wrappersOf(context, found);
  const response: ListTemplatesResponse = {
    $typeName: 'ticketing.templates.v1.ListTemplatesResponse',
    success: true,
    templates: found.map((state) => templateMessage(state, wrappers)),
    total,
    offset,
    limit,
  };
  return isLargePage(sizes) ? markAsLarge(response) : response;
}

/** Returns the bytes of each template of a page in the response, with its e-mail template. */
async function sizesOf({ emailTemplates, settings }: Context, entries: readonly TemplateEntry[]): Promise<number[]> {
  const { genericTemplateId } = await settings();
  const wrappers = await emailTemplates.sizes(wrapperIds(entries, genericTemplateId));
  const bytesOf = new Map(wrappers.map(({ id, bytes }) => [id, bytes]));
  const generic = bytesOf.get(genericTemplateId ?? 0) ?? 0;
  return entries.map(({ bytes, emailTemplateId }) => messageBytes(bytes, bytesOf.get(emailTemplateId ?? 0) ?? generic));
}
