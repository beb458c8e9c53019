import { OrderByDirection } from '@ticketing/contracts/ticketing/api/v1/filter_pb.ts';
import type {
  ListArchivedKnowledgeSourcesRequest,
  ListArchivedKnowledgeSourcesResponse,
} from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { KnowledgeStatus } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { SourceParts } from './open.ts';
import { listSources } from './read-page.ts';

/**
 * Lists archived knowledge sources by the time of their last change.
 *
 * Errors: page_too_large, too_much_at_once.
 * Source: docs/reference/api.md, Knowledge.
 */
export async function listArchivedKnowledgeSources(
  parts: SourceParts,
  call: Call,
  { limit, offset, parent, orderByDirection }: ListArchivedKnowledgeSourcesRequest,
): Promise<ListArchivedKnowledgeSourcesResponse> {
  const { sources, isLarge, ...page } = await listSources(parts, call, {
    status: KnowledgeStatus.ARCHIVED,
    parent,
    limit,
    offset,
    isAscending: orderByDirection === OrderByDirection.ASC,
  });
  const response: ListArchivedKnowledgeSourcesResponse = {
    $typeName: 'ticketing.knowledge.v1.ListArchivedKnowledgeSourcesResponse',
    items: sources,
    ...page,
  };
  return isLarge ? markAsLarge(response) : response;
}
