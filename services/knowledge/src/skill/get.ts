import type {
  GetSkillRequest,
  GetSkillResponse,
} from '@ticketing/contracts/ticketing/knowledge/v1/skill_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { admitPage } from '../source/read.ts';
import { findSkill } from './find.ts';
import { skillMessage } from './to-proto.ts';

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
