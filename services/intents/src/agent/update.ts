import { isDeepStrictEqual } from 'node:util';
import type {
  UpdateAiAgentRequest,
  UpdateAiAgentResponse,
} from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { withoutDeleted } from './drop-deleted.ts';
import { findAiAgent } from './get.ts';
import { readAiAgentInput } from './read-input.ts';
import { requireReferences } from './require-references.ts';
import { type AiAgentState, changeAiAgent } from './rules/agent.ts';
import { aiAgentMessage } from './to-proto.ts';

/**
 * Changes an AI agent. Writes nothing if no field differs.
 *
 * Errors: ai_agent_not_found, duplicate_ai_agent; those of `changeAiAgent` and `requireReferences`.
 * Source: docs/reference/api.md, AI agents.
 */
export async function updateAiAgent(
  context: Context,
  call: Call,
  request: UpdateAiAgentRequest,
): Promise<UpdateAiAgentResponse> {
  const { agents, secretBox } = context;
  const { id } = request;
  const input = readAiAgentInput(request);
  const before = await findAiAgent(context, id);
  const changeOf = (current: AiAgentState) => changeAiAgent(current, input, secretBox, context.now());
  const after = changeOf(before);
  await requireReferences(context, call, input, after);
  const { version, modifiedAt } = before;
  const differs = !isDeepStrictEqual({ ...after, version, modifiedAt }, before);
  const changed = differs ? await agents.change(id, changeOf) : before;
  const saved = changed && (await withoutDeleted(context, changed));
  if (!saved) throw notFound('AI agent');
  return {
    $typeName: 'ticketing.intents.v1.UpdateAiAgentResponse',
    success: true,
    aiAgent: aiAgentMessage(saved),
  };
}
