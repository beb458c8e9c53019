import type { Skill } from '@ticketing/contracts/ticketing/knowledge/v1/skill_service_pb.ts';
import { type DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { SkillState } from './rules.ts';

/** Returns a skill as it is returned. */
export function skillToProto({ aiAgentId, description, content, createdAt, modifiedAt, ...skill }: SkillState): Skill {
  return {
    $typeName: 'ticketing.knowledge.v1.Skill',
    ...skill,
    ...(aiAgentId === null ? {} : { aiAgentId }),
    ...(description === null ? {} : { description }),
    ...(content === null ? {} : { content }),
    createdAt: toTimestamp(createdAt),
    modifiedAt: toTimestamp(modifiedAt),
  };
}

/** Returns the name of a request without white space around it. Errors: too_short. */
export function requireName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw refused('#/name', 'too_short', 'must not be blank');
  return trimmed;
}

function refused(pointer: string, code: string, detail: string): DomainError {
  return invalidInput([{ pointer, code, detail }]);
}
