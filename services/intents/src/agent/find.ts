import type {
  FindAiAgentsRequest,
  FindAiAgentsResponse,
} from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';

/** Finds which of some AI agents exist, for other services. */
export async function findAiAgents(
  { agents }: Context,
  _call: Call,
  { ids }: FindAiAgentsRequest,
): Promise<FindAiAgentsResponse> {
  return { $typeName: 'ticketing.intents.v1.FindAiAgentsResponse', ids: await agents.existing(ids) };
}
