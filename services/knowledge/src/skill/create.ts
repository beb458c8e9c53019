import type {
  CreateSkillRequest,
  CreateSkillResponse,
} from '@ticketing/contracts/ticketing/knowledge/v1/skill_service_pb.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { toSlug } from '@ticketing/text/slug.ts';
import { duplicateSkill, findSkill, requireAgent } from './find.ts';
import type { SkillParts } from './open.ts';
import { requireName, skillToProto } from './to-proto.ts';

/** Creates a skill. Errors: too_short, unknown_agent, duplicate_skill. Source: docs/reference/api.md, Skills. */
export async function createSkill(
  parts: SkillParts,
  call: Call,
  request: CreateSkillRequest,
): Promise<CreateSkillResponse> {
  const { skills, skillIds, runtime } = parts;
  const name = requireName(request.name ?? '');
  await requireAgent(parts, call, request.aiAgentId);
  const { idempotency } = call;
  const next = () => skillIds.next();
  const id = idempotency ? await idempotency.reserve('skill', next) : await next();
  const now = secondsNow(runtime);
  const skill = {
    id,
    slug: request.slug ?? toSlug(name, 'skill'),
    aiAgentId: request.aiAgentId ?? null,
    name,
    description: request.description ?? null,
    content: request.content ?? null,
    createdAt: now,
    modifiedAt: now,
  };
  if (!(await skills.add(skill, request.slug === undefined))) throw duplicateSkill();
  const added = skillToProto(await findSkill(parts, id));
  return { $typeName: 'ticketing.knowledge.v1.CreateSkillResponse', skill: added, success: true };
}
