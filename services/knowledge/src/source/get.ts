import type {
  GetKnowledgeSourceRequest,
  GetKnowledgeSourceResponse,
} from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { takePage } from '@ticketing/store/paging/page-budget.ts';
import type { SourceParts } from './open.ts';
import { readSource } from './read.ts';
import { sourceToProto } from './to-proto.ts';

/** Reads a knowledge source. Errors: knowledge_source_not_found; too_much_at_once. Source: docs/reference/api.md, Knowledge. */
export async function getKnowledgeSource(
  parts: SourceParts,
  call: Call,
  { id }: GetKnowledgeSourceRequest,
): Promise<GetKnowledgeSourceResponse> {
  const shown = await readSource(parts, call, id);
  const isLarge = await takePage(parts.pages, callerKey(call.caller), [shown.source.bytes], call);
  const response: GetKnowledgeSourceResponse = {
    $typeName: 'ticketing.knowledge.v1.GetKnowledgeSourceResponse',
    knowledgeSource: sourceToProto(shown),
  };
  return isLarge ? markAsLarge(response) : response;
}
