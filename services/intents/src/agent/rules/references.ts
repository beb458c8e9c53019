import type { AiAgentState } from './agent.ts';
import { tagIdsIn, withoutTagsIn } from './ticket-fields.ts';

/** The tags that an AI agent names. */
export function namedTagIds({ detection, executor }: AiAgentState): number[] {
  const inFields = executor.type === 'updateTicket' ? tagIdsIn(executor.fields) : [];
  return [...new Set([...detection.tagIds, ...inFields])];
}

/** An AI agent that does not name some tags. */
export function withoutTags(agent: AiAgentState, tagIds: readonly number[]): AiAgentState {
  const { detection, executor } = agent;
  return {
    ...agent,
    detection: { ...detection, tagIds: detection.tagIds.filter((id) => !tagIds.includes(id)) },
    executor:
      executor.type === 'updateTicket' ? { ...executor, fields: withoutTagsIn(executor.fields, tagIds) } : executor,
  };
}

/** The response template that an AI agent names, or null. */
export function namedTemplateId({ executor }: AiAgentState): number | null {
  return executor.type === 'reply' ? executor.templateId : null;
}

/** An AI agent that does not name some response templates. */
export function withoutTemplates(agent: AiAgentState, templateIds: readonly number[]): AiAgentState {
  const templateId = namedTemplateId(agent);
  if (templateId === null || !templateIds.includes(templateId)) return agent;
  return { ...agent, executor: { type: 'reply', templateId: null } };
}
