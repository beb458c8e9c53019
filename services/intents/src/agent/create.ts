import type {
  CreateAiAgentRequest,
  CreateAiAgentResponse,
} from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { dropDeleted } from './delete.ts';
import type { AgentContext } from './open.ts';
import { readAiAgentInput } from './read-input.ts';
import { type AiAgentState, newAiAgent } from './rules/agent.ts';
import { toProto } from './to-proto.ts';

/**
 * Creates an AI agent.
 *
 * Errors: duplicate_ai_agent, if the request has its slug; those of `changeAiAgent` and `RequireReferences`.
 * Source: docs/reference/api.md, AI agents.
 */
export async function createAiAgent(
  context: AgentContext,
  call: Call,
  request: CreateAiAgentRequest,
): Promise<CreateAiAgentResponse> {
  const { agents, requireReferences, secretBox, now } = context;
  const input = { ...readAiAgentInput(request), name: request.name ?? '' };
  // Checked before an id is used: a request that is refused leaves no gap.
  await requireReferences(call, input, newAiAgent(0, input, secretBox, now()));
  const id = call.idempotency ? await call.idempotency.reserve('aiAgent', agents.nextId) : await agents.nextId();
  const agent = newAiAgent(id, input, secretBox, now());
  if (input.slug === undefined) await agents.addNumbered(agent);
  else await agents.add(agent);
  const created = await readCreated(context, id);
  return { $typeName: 'ticketing.intents.v1.CreateAiAgentResponse', aiAgent: toProto(created) };
}

/**
 * Reads the agent back: its slug may have a number, and a process that died may have created it for the same request.
 */
async function readCreated(context: AgentContext, id: number): Promise<AiAgentState> {
  const { agents, deleted } = context;
  const wasDeleted = (await deleted.agents.among([id])).size > 0;
  if (wasDeleted) await agents.remove(id);
  const agent = await agents.find(id);
  const created = agent && (await dropDeleted(context, agent));
  if (!created) throw notFound('AI agent');
  return created;
}
