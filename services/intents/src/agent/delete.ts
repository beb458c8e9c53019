import type {
  DeleteAiAgentRequest,
  DeleteAiAgentResponse,
} from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { AgentContext } from './open.ts';

/** Deletes an AI agent. Errors: ai_agent_not_found. Source: docs/reference/api.md, AI agents. */
export async function deleteAiAgent(
  { agents, deleted }: AgentContext,
  _call: Call,
  { id }: DeleteAiAgentRequest,
): Promise<DeleteAiAgentResponse> {
  if ((await agents.existing([id])).length === 0) throw notFound('AI agent');
  // First, so that its creation, which may be repeated after a crash, does not bring it back.
  await deleted.agents.add(id);
  if (!(await agents.remove(id))) throw notFound('AI agent');
  return { $typeName: 'ticketing.intents.v1.DeleteAiAgentResponse', success: true };
}
