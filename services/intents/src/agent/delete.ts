import type {
  DeleteAiAgentRequest,
  DeleteAiAgentResponse,
  DropTemplateRequest,
  DropTemplateResponse,
} from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { AgentContext } from './open.ts';
import { type AiAgentState, namedTagIds, namedTemplateId, withoutTags, withoutTemplates } from './rules/agent.ts';

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

/** Drops deleted tags from all AI agents. */
export async function dropTags(context: AgentContext, tagIds: readonly number[]): Promise<void> {
  // First, so that a process that saves an AI agent with such a tag from now on drops the tag itself.
  for (const id of tagIds) await context.deleted.tags.add(id);
  await dropReferences(context, tagIds, []);
}

/** Drops a deleted response template from the AI agents. Source: docs/reference/api.md, AI agents. */
export async function dropTemplate(
  context: AgentContext,
  _call: Call,
  { templateId }: DropTemplateRequest,
): Promise<DropTemplateResponse> {
  await context.deleted.templates.add(templateId);
  await dropReferences(context, [], [templateId]);
  return { $typeName: 'ticketing.intents.v1.DropTemplateResponse' };
}

/** Drops tags and response templates from all AI agents that name them. */
export async function dropReferences(
  { agents }: Pick<AgentContext, 'agents'>,
  tagIds: readonly number[],
  templateIds: readonly number[],
): Promise<void> {
  const naming = await Promise.all([agents.naming('tagIds', tagIds), agents.naming('templateId', templateIds)]);
  for (const id of new Set(naming.flat())) {
    await agents.commit(id, (agent) => withoutTemplates(withoutTags(agent, tagIds), templateIds));
  }
}

/**
 * Drops tags and a template from an AI agent that were deleted while it was being saved: the deletion has not seen it.
 * Returns undefined if the AI agent does not exist any more.
 */
export async function dropDeleted(
  { agents, deleted }: AgentContext,
  agent: AiAgentState,
): Promise<AiAgentState | undefined> {
  const templateId = namedTemplateId(agent);
  const [tags, templates] = await Promise.all([
    deleted.tags.among(namedTagIds(agent)),
    deleted.templates.among(templateId === null ? [] : [templateId]),
  ]);
  if (tags.size + templates.size === 0) return agent;
  return agents.commit(agent.id, (current) => withoutTemplates(withoutTags(current, [...tags]), [...templates]));
}
