import type {
  UpdateSkillRequest,
  UpdateSkillResponse,
} from '@ticketing/contracts/ticketing/knowledge/v1/skill_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { duplicateSkill, requireAgent } from './find.ts';
import type { SkillParts } from './open.ts';
import type { SkillState } from './rules.ts';
import { requireName, skillToProto } from './to-proto.ts';

/**
 * Changes a skill. Its slug stays when its name changes. If no value differs, nothing is changed.
 *
 * Errors: skill_not_found; too_short, unknown_agent; duplicate_skill.
 * Source: docs/reference/api.md, Skills; docs/reference/api.md, Presence and null.
 */
export async function updateSkill(
  parts: SkillParts,
  call: Call,
  request: UpdateSkillRequest,
): Promise<UpdateSkillResponse> {
  const { skills, runtime } = parts;
  const input = toInput(request);
  await requireAgent(parts, call, request.aiAgentId);
  const after = await skills.change(request.id, input, secondsNow(runtime));
  if (after === undefined) throw notFound('Skill');
  if (after === 'taken') throw duplicateSkill();
  return { $typeName: 'ticketing.knowledge.v1.UpdateSkillResponse', success: true, skill: skillToProto(after) };
}

/** Returns the fields that the mask names. The contract's rules have checked that a field without a value may be cleared. */
function toInput(request: UpdateSkillRequest): Partial<SkillState> {
  const values: Record<string, () => object> = {
    name: () => ({ name: requireName(request.name ?? '') }),
    slug: () => ({ slug: request.slug }),
    ai_agent_id: () => ({ aiAgentId: request.aiAgentId ?? null }),
    description: () => ({ description: request.description ?? null }),
    content: () => ({ content: request.content ?? null }),
  };
  return Object.assign({}, ...(request.updateMask?.paths ?? []).map((path) => values[path]?.()));
}
