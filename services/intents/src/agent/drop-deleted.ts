import type { Context } from '../context.ts';
import { type AiAgentState, namedTagIds, namedTemplateId, withoutTags, withoutTemplates } from './rules/agent.ts';

type AgentContext = Pick<Context, 'agents' | 'deleted'>;

/** Drops deleted tags from all AI agents and all training examples. */
export async function dropTags(
  context: AgentContext & Pick<Context, 'learning'>,
  tagIds: readonly number[],
): Promise<void> {
  // First, so that a process that saves an AI agent with such a tag from now on drops the tag itself.
  for (const id of tagIds) await context.deleted.tags.add(id);
  await dropFromAgents(context, tagIds, []);
  await context.learning.examples.dropTags(tagIds);
}

/** Drops a deleted response template from all AI agents. */
export async function dropTemplate(context: AgentContext, templateId: number): Promise<void> {
  await context.deleted.templates.add(templateId);
  await dropFromAgents(context, [], [templateId]);
}

/** Drops tags and response templates from all AI agents that name them. */
export async function dropFromAgents(
  { agents }: Pick<Context, 'agents'>,
  tagIds: readonly number[],
  templateIds: readonly number[],
): Promise<void> {
  const naming = await Promise.all([agents.naming('tagIds', tagIds), agents.naming('templateId', templateIds)]);
  for (const id of new Set(naming.flat())) {
    await agents.change(id, (agent) => withoutTemplates(withoutTags(agent, tagIds), templateIds));
  }
}

/**
 * Drops tags and a template from an AI agent that were deleted while it was being saved: the deletion has not seen it.
 * Returns undefined if the AI agent does not exist any more.
 */
export async function withoutDeleted(
  { agents, deleted }: AgentContext,
  saved: AiAgentState,
): Promise<AiAgentState | undefined> {
  const templateId = namedTemplateId(saved);
  const [tags, templates] = await Promise.all([
    deleted.tags.among(namedTagIds(saved)),
    deleted.templates.among(templateId === null ? [] : [templateId]),
  ]);
  if (tags.size + templates.size === 0) return saved;
  return agents.change(saved.id, (agent) => withoutTemplates(withoutTags(agent, [...tags]), [...templates]));
}
