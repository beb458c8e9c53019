import type {
  ListSkillsRequest,
  ListSkillsResponse,
} from '@ticketing/contracts/ticketing/knowledge/v1/skill_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { takePage } from '@ticketing/store/paging/page-budget.ts';
import type { SkillParts } from './open.ts';
import { skillToProto } from './to-proto.ts';

/** Lists skills by slug. Errors: page_too_large, too_much_at_once. Source: docs/reference/api.md, Skills. */
export async function listSkills(
  parts: SkillParts,
  call: Call,
  { q = '', aiAgentId, limit = 100, offset = 0 }: ListSkillsRequest,
): Promise<ListSkillsResponse> {
  const { total, sizes } = await parts.skills.page({ part: q, owner: aiAgentId, limit, offset });
  const isLarge = await takePage(
    parts.pages,
    callerKey(call.caller),
    sizes.map(({ bytes }) => bytes),
    call,
  );
  const response: ListSkillsResponse = {
    $typeName: 'ticketing.knowledge.v1.ListSkillsResponse',
    success: true,
    skills: (await parts.skills.read(sizes.map(({ id }) => id))).map(skillToProto),
    total,
    offset,
    limit,
  };
  return isLarge ? markAsLarge(response) : response;
}
