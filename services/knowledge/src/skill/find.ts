import { DomainError, invalidInput, notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { SkillParts } from './open.ts';
import type { SkillState } from './rules.ts';

/** Returns the skill with an id. Errors: skill_not_found. */
export async function findSkill({ skills }: Pick<SkillParts, 'skills'>, id: number): Promise<SkillState> {
  const skill = await skills.find(id);
  if (!skill) throw notFound('Skill');
  return skill;
}

/** Makes the error for a slug that another skill of the owner has. */
export function duplicateSkill(): DomainError {
  return new DomainError('already_exists', 'duplicate_skill', 'The owner has a skill with this slug.');
}

/** Requires that the AI agent exists, if a request names one. Errors: unknown_agent; dependency_unavailable. */
export async function requireAgent(parts: SkillParts, call: Call, id: number | undefined): Promise<void> {
  if (id === undefined) return;
  const { ids } = await parts.agents(call).findAiAgents({ ids: [id] });
  if (ids.includes(id)) return;
  const detail = 'There is no such AI agent.';
  throw invalidInput([{ pointer: '#/aiAgentId', code: 'unknown_agent', detail }]);
}
