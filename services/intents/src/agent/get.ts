import type {
  GetAiAgentRequest,
  GetAiAgentResponse,
} from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { findAiAgent } from './find-one.ts';
import { aiAgentMessage } from './to-proto.ts';

/** Reads an AI agent. Errors: ai_agent_not_found. Source: docs/reference/api.md, AI agents. */
export async function getAiAgent(
  context: Context,
  _call: Call,
  { id }: GetAiAgentRequest,
): Promise<GetAiAgentResponse> {
  const aiAgent = aiAgentMessage(await findAiAgent(context, id));
  return { $typeName: 'ticketing.intents.v1.GetAiAgentResponse', aiAgent };
}
