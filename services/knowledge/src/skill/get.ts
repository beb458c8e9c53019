import type {
  GetSkillRequest,
  GetSkillResponse,
} from '@ticketing/contracts/ticketing/knowledge/v1/skill_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { takePage } from '@ticketing/store/paging/page-budget.ts';
import { findSkill } from './find.ts';
import type { SkillParts } from './open.ts';
import { skillToProto } from './to-proto.ts';

/** Reads a skill. Errors: skill_not_found; too_much_at_once. Source: docs/reference/api.md, Skills. */
export async function getSkill(parts: SkillParts, call: Call, { id }: GetSkillRequest): Promise<GetSkillResponse> {
  const skill = await findSkill(parts, id);
  const isLarge = await takePage(parts.pages, callerKey(call.caller), [Buffer.byteLength(skill.content ?? '')], call);
  const response: GetSkillResponse = {
    $typeName: 'ticketing.knowledge.v1.GetSkillResponse',
    skill: skillToProto(skill),
  };
  return isLarge ? markAsLarge(response) : response;
}
