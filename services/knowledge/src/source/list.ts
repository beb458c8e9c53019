import type {
  ListKnowledgeSourcesRequest,
  ListKnowledgeSourcesResponse,
} from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { SourceParts } from './open.ts';
import { listSources } from './read-page.ts';

/**
 * Lists knowledge sources, those changed last first, or by relevance with `q`.
 *
 * Errors: page_too_large, too_much_at_once; too_many_words; search_too_slow.
 * Source: docs/reference/api.md, Knowledge.
 */
export async function listKnowledgeSources(
  parts: SourceParts,
  call: Call,
  { $typeName: _, $unknown: _unknown, ...request }: ListKnowledgeSourcesRequest,
): Promise<ListKnowledgeSourcesResponse> {
  const filter = { limit: undefined, offset: undefined, ...request, isAscending: false };
  const { sources, isLarge, ...page } = await listSources(parts, call, filter);
  const response: ListKnowledgeSourcesResponse = {
    $typeName: 'ticketing.knowledge.v1.ListKnowledgeSourcesResponse',
    success: true,
    knowledgeSources: sources,
    ...page,
  };
  return isLarge ? markAsLarge(response) : response;
}
