import type {
  ListTemplatesRequest,
  ListTemplatesResponse,
} from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { takePage } from '@ticketing/store/paging/page-budget.ts';
import { readWrapperSizes, readWrappers } from '../email-template/wrappers.ts';
import type { TemplateParts } from './open.ts';
import { responseBytes, templateToProto } from './to-proto.ts';

/**
 * Lists response templates by id.
 *
 * Errors: page_too_large, search_too_slow, too_much_at_once. Source: docs/reference/api.md, Templates.
 */
export async function listTemplates(
  parts: TemplateParts,
  call: Call,
  { q, tagId, limit = 100, offset = 0 }: ListTemplatesRequest,
): Promise<ListTemplatesResponse> {
  const { total, entries } = await parts.templates.list({ q, tagId }, offset, limit);
  const wrapperSizes = await readWrapperSizes(parts.wrappers, entries);
  const sizes = entries.map(({ bytes }, index) => responseBytes(bytes, wrapperSizes[index] ?? 0));
  const isLarge = await takePage(parts.pages, callerKey(call.caller), sizes, call);
  const page = await parts.templates.findSome(entries.map(({ id }) => id));
  const wrappers = await readWrappers(parts.wrappers, page);
  const response: ListTemplatesResponse = {
    $typeName: 'ticketing.templates.v1.ListTemplatesResponse',
    success: true,
    templates: page.map((state) => templateToProto(state, wrappers)),
    total,
    offset,
    limit,
  };
  return isLarge ? markAsLarge(response) : response;
}
