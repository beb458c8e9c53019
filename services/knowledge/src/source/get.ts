import type {
  GetKnowledgeSourceRequest,
  GetKnowledgeSourceResponse,
} from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { admitPage, readSource } from './read.ts';
import { sourceMessage } from './to-proto.ts';

/** Reads a knowledge source. Errors: knowledge_source_not_found; too_much_at_once. Source: docs/reference/api.md, Knowledge. */
export async function getKnowledgeSource(
  context: Context,
  call: Call,
  { id }: GetKnowledgeSourceRequest,
): Promise<GetKnowledgeSourceResponse> {
  const shown = await readSource(context, call, id);
  const isLarge = await admitPage(context, call, [shown.source.bytes]);
  const response: GetKnowledgeSourceResponse = {
    $typeName: 'ticketing.knowledge.v1.GetKnowledgeSourceResponse',
    knowledgeSource: sourceMessage(shown),
  };
  return isLarge ? markAsLarge(response) : response;
}
