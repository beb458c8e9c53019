import type {
  GetAiAgentRequest,
  GetAiAgentResponse,
} from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { aiAgentMessage } from '../application/ai-agent-message.ts';
import type { Context } from '../application/context.ts';
import { findAiAgent } from '../application/find-ai-agent.ts';

/** Reads an AI agent. Errors: ai_agent_not_found. Source: docs/reference/api.md, AI agents. */
export async function getAiAgent(
  context: Context,
  _call: Call,
  { id }: GetAiAgentRequest,
): Promise<GetAiAgentResponse> {
  const aiAgent = aiAgentMessage(await findAiAgent(context, id));
  return { $typeName: 'ticketing.intents.v1.GetAiAgentResponse', aiAgent };
}
