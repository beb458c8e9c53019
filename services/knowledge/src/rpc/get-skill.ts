import type {
  GetSkillRequest,
  GetSkillResponse,
} from '@ticketing/contracts/ticketing/knowledge/v1/skill_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/large-response.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from '../application/context.ts';
import { findSkill } from '../application/find-skill.ts';
import { admitPage } from '../application/read-sources.ts';
import { skillMessage } from '../application/skill-message.ts';

/** Reads a skill. Errors: skill_not_found; too_much_at_once. Source: docs/reference/api.md, Skills. */
export async function getSkill(context: Context, call: Call, { id }: GetSkillRequest): Promise<GetSkillResponse> {
  const skill = await findSkill(context, id);
  const isLarge = await admitPage(context, call, [Buffer.byteLength(skill.content ?? '')]);
  const response: GetSkillResponse = {
    $typeName: 'ticketing.knowledge.v1.GetSkillResponse',
    skill: skillMessage(skill),
  };
  return isLarge ? markAsLarge(response) : response;
}
