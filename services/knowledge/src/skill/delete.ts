import type {
  DeleteSkillRequest,
  DeleteSkillResponse,
} from '@ticketing/contracts/ticketing/knowledge/v1/skill_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { SkillParts } from './open.ts';

/** Deletes a skill. Errors: skill_not_found. Source: docs/reference/api.md, Skills. */
export async function deleteSkill(
  { skills }: SkillParts,
  _call: Call,
  { id }: DeleteSkillRequest,
): Promise<DeleteSkillResponse> {
  if (!(await skills.remove(id))) throw notFound('Skill');
  return { $typeName: 'ticketing.knowledge.v1.DeleteSkillResponse', success: true };
}
