import type {
  CreateAiAgentRequest,
  CreateAiAgentResponse,
} from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { withoutDeleted } from './drop-deleted.ts';
import { readAiAgentInput } from './read-input.ts';
import { requireReferences } from './require-references.ts';
import { type AiAgentState, newAiAgent } from './rules/agent.ts';
import { aiAgentMessage } from './to-proto.ts';

/**
 * Creates an AI agent.
 *
 * Errors: duplicate_ai_agent, if its slug was given; those of `changeAiAgent` and `requireReferences`.
 * Source: docs/reference/api.md, AI agents.
 */
export async function createAiAgent(
  context: Context,
  call: Call,
  request: CreateAiAgentRequest,
): Promise<CreateAiAgentResponse> {
  const { agents, agentIds, secretBox } = context;
  const input = { ...readAiAgentInput(request), name: request.name ?? '' };
  // Before an id is used for it: a request that is refused leaves no gap.
  await requireReferences(context, call, input, newAiAgent(0, input, secretBox, context.now()));
  const next = () => agentIds.next();
  const id = call.idempotency ? await call.idempotency.reserve('aiAgent', next) : await next();
  const agent = newAiAgent(id, input, secretBox, context.now());
  if (input.slug === undefined) await agents.addNumbered(agent);
  else await agents.add(agent);
  const saved = await readCreated(context, id);
  return { $typeName: 'ticketing.intents.v1.CreateAiAgentResponse', aiAgent: aiAgentMessage(saved) };
}

/**
 * Reads the agent back: its slug may have a number, and a process that died may have created it for the same request.
 */
async function readCreated(context: Context, id: number): Promise<AiAgentState> {
  const { agents, deleted } = context;
  const wasDeleted = (await deleted.agents.among([id])).size > 0;
  if (wasDeleted) await agents.remove(id);
  const added = await agents.find(id);
  const saved = added && (await withoutDeleted(context, added));
  if (!saved) throw notFound('AI agent');
  return saved;
}
