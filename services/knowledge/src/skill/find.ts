import { DomainError, notFound } from '@ticketing/errors/domain-error.ts';
import type { Context } from '../context.ts';
import type { SkillState } from './rules.ts';

/** The skill with an id. Errors: skill_not_found. */
export async function findSkill({ skills }: Pick<Context, 'skills'>, id: number): Promise<SkillState> {
  const skill = await skills.find(id);
  if (!skill) throw notFound('Skill');
  return skill;
}

/** The error for a slug that another skill of the owner has. */
export function duplicateSkill(): DomainError {
  return new DomainError('already_exists', 'duplicate_skill', 'The owner has a skill with this slug.');
}
