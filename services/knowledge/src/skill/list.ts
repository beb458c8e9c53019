import type {
  ListSkillsRequest,
  ListSkillsResponse,
} from '@ticketing/contracts/ticketing/knowledge/v1/skill_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { admitPage } from '../source/read.ts';
import { skillMessage } from './to-proto.ts';

/** Lists skills by slug. Errors: page_too_large, too_much_at_once. Source: docs/reference/api.md, Skills. */
export async function listSkills(
  context: Context,
  call: Call,
  { q = '', aiAgentId, limit = 100, offset = 0 }: ListSkillsRequest,
): Promise<ListSkillsResponse> {
  const { total, sizes } = await context.skills.page({ part: q, owner: aiAgentId, limit, offset });
  const isLarge = await admitPage(
    context,
    call,
    sizes.map(({ bytes }) => bytes),
  );
  const response: ListSkillsResponse = {
    $typeName: 'ticketing.knowledge.v1.ListSkillsResponse',
    success: true,
    skills: (await context.skills.read(sizes.map(({ id }) => id))).map(skillMessage),
    total,
    offset,
    limit,
  };
  return isLarge ? markAsLarge(response) : response;
}
