import type {
  FindAiAgentsRequest,
  FindAiAgentsResponse,
  GetAiAgentRequest,
  GetAiAgentResponse,
} from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { AgentContext } from './open.ts';
import type { AiAgentState } from './rules/agent.ts';
import { toProto } from './to-proto.ts';

/** Reads an AI agent. Errors: ai_agent_not_found. Source: docs/reference/api.md, AI agents. */
export async function getAiAgent(
  context: AgentContext,
  _call: Call,
  { id }: GetAiAgentRequest,
): Promise<GetAiAgentResponse> {
  const agent = await findAiAgent(context, id);
  return { $typeName: 'ticketing.intents.v1.GetAiAgentResponse', aiAgent: toProto(agent) };
}

/** Finds which of some AI agents exist, for other services. */
export async function findAiAgents(
  { agents }: AgentContext,
  _call: Call,
  { ids }: FindAiAgentsRequest,
): Promise<FindAiAgentsResponse> {
  return { $typeName: 'ticketing.intents.v1.FindAiAgentsResponse', ids: await agents.existing(ids) };
}

/** Reads an AI agent. Errors: ai_agent_not_found. */
export async function findAiAgent({ agents }: Pick<AgentContext, 'agents'>, id: number): Promise<AiAgentState> {
  const agent = await agents.find(id);
  if (!agent) throw notFound('AI agent');
  return agent;
}
