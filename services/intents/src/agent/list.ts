import type {
  ListAiAgentsRequest,
  ListAiAgentsResponse,
} from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { isLargePage, requirePageSize } from '@ticketing/store/paging/page-budget.ts';
import type { AgentContext } from './open.ts';
import { toProto } from './to-proto.ts';

/** Lists AI agents by id. Errors: page_too_large, too_much_at_once. Source: docs/reference/api.md, AI agents. */
export async function listAiAgents(
  { agents, pages }: AgentContext,
  call: Call,
  { limit = 100, offset = 0 }: ListAiAgentsRequest,
): Promise<ListAiAgentsResponse> {
  const { total, entries } = await agents.list(offset, limit);
  const sizes = entries.map(({ bytes }) => bytes);
  const openSizes = call.api === 'rpc' ? entries.map(({ openBytes }) => openBytes) : [];
  requirePageSize(sizes, openSizes);
  await pages.take(
    callerKey(call.caller),
    sizes.reduce((sum, size) => sum + size, 0),
    call,
  );
  const aiAgents = await agents.findSome(entries.map(({ id }) => id));
  const response: ListAiAgentsResponse = {
    $typeName: 'ticketing.intents.v1.ListAiAgentsResponse',
    success: true,
    aiAgents: aiAgents.map(toProto),
    total,
    offset,
    limit,
  };
  return isLargePage(sizes) ? markAsLarge(response) : response;
}
