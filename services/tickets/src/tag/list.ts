import { TagVisibility } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import type {
  GetTagRequest,
  GetTagResponse,
  ListTagsRequest,
  ListTagsResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { isLargePage, requirePageSize } from '@ticketing/store/paging/page-budget.ts';
import type { TagDeps } from './open.ts';
import { tagMessages, tagSize } from './to-proto.ts';

const defaultLimit = 100;

/**
 * Lists tags by full name.
 *
 * Errors: page_too_large.
 * Source: docs/reference/api.md, Tags.
 */
export async function listTags(deps: TagDeps, _call: Call, request: ListTagsRequest): Promise<ListTagsResponse> {
  const tree = await deps.tags.tree();
  const part = request.q?.toLowerCase() ?? '';
  const matches = [...tree.all()]
    .filter((tag) => request.includeDisabled === true || tag.visibility !== TagVisibility.DISABLED)
    .filter((tag) => request.type === undefined || tag.type === request.type)
    .map((tag) => ({ id: tag.id, fullName: tree.fullName(tag) }))
    .filter(({ fullName }) => fullName.toLowerCase().includes(part))
    .sort((left, right) => left.fullName.localeCompare(right.fullName, 'en') || left.id - right.id);
  const offset = request.offset ?? 0;
  const page = matches.slice(offset, offset + (request.limit ?? defaultLimit));
  const tags = tagMessages(
    page.map(({ id }) => id),
    tree,
  );
  const sizes = tags.map(tagSize);
  requirePageSize(sizes);
  const response: ListTagsResponse = {
    $typeName: 'ticketing.tickets.v1.ListTagsResponse',
    success: true,
    tags,
    total: matches.length,
  };
  return isLargePage(sizes) ? markAsLarge(response) : response;
}

/** Reads one tag. Errors: tag_not_found. Source: docs/reference/api.md, Tags. */
export async function getTag(deps: TagDeps, _call: Call, request: GetTagRequest): Promise<GetTagResponse> {
  const [tag] = tagMessages([request.id], await deps.tags.tree());
  if (!tag) throw notFound('Tag');
  return { $typeName: 'ticketing.tickets.v1.GetTagResponse', tag };
}
