import { isDeepStrictEqual } from 'node:util';
import type {
  UpdateAiAgentRequest,
  UpdateAiAgentResponse,
} from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { dropDeleted } from './delete.ts';
import { findAiAgent } from './get.ts';
import type { AgentContext } from './open.ts';
import { readAiAgentInput } from './read-input.ts';
import { type AiAgentState, changeAiAgent } from './rules/agent.ts';
import { toProto } from './to-proto.ts';

/**
 * Changes an AI agent. Writes nothing if no field differs.
 *
 * Errors: ai_agent_not_found, duplicate_ai_agent; those of `changeAiAgent` and `RequireReferences`.
 * Source: docs/reference/api.md, AI agents.
 */
export async function updateAiAgent(
  context: AgentContext,
  call: Call,
  request: UpdateAiAgentRequest,
): Promise<UpdateAiAgentResponse> {
  const { agents, requireReferences, secretBox, now } = context;
  const input = readAiAgentInput(request);
  const decide = (agent: AiAgentState) => changeAiAgent(agent, input, secretBox, now());
  const before = await findAiAgent(context, request.id);
  const plan = decide(before);
  await requireReferences(call, input, plan);
  const { version, modifiedAt } = before;
  const isSame = isDeepStrictEqual({ ...plan, version, modifiedAt }, before);
  const after = isSame ? before : await agents.commit(request.id, decide);
  const aiAgent = after && (await dropDeleted(context, after));
  if (!aiAgent) throw notFound('AI agent');
  return { $typeName: 'ticketing.intents.v1.UpdateAiAgentResponse', success: true, aiAgent: toProto(aiAgent) };
}
