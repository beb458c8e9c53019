import type {
  MarkKnowledgeSourceReadRequest,
  MarkKnowledgeSourceReadResponse,
} from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { cutChars } from '@ticketing/runtime/cut-text.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import type { SourceParts } from './open.ts';
import { readSource } from './read.ts';
import { sourceSubject, sourceToProto } from './to-proto.ts';

const maxNameLength = 320;

/**
 * Marks a knowledge source as read by the calling agent. If it is already marked, the time is updated.
 *
 * Errors: knowledge_source_not_found, knowledge_source_blocked, no_profile. Source: docs/reference/api.md, Knowledge.
 */
export async function markKnowledgeSourceRead(
  parts: SourceParts,
  call: Call,
  { id }: MarkKnowledgeSourceReadRequest,
): Promise<MarkKnowledgeSourceReadResponse> {
  const { caller, idempotency } = call;
  const { blocked } = await readSource(parts, call, id);
  if (blocked.length > 0) throw refused('knowledge_source_blocked', 'You may not read this source.');
  if (caller.profileId === null) throw refused('no_profile', 'Only an agent can mark a source as read.');
  await parts.sources.addReader(id, {
    id: caller.profileId,
    name: fullName(caller),
    readAt: secondsNow(parts.runtime),
  });
  idempotency?.addSubject(sourceSubject(id));
  const knowledgeSource = sourceToProto(await readSource(parts, call, id));
  return { $typeName: 'ticketing.knowledge.v1.MarkKnowledgeSourceReadResponse', success: true, knowledgeSource };
}

function fullName({ name, firstName, lastName }: Caller): string {
  const parts = [firstName, lastName].filter((part) => part !== null && part !== '');
  return cutChars(name || parts.join(' '), maxNameLength);
}

function refused(reason: string, detail: string): DomainError {
  return new DomainError('failed_precondition', reason, detail);
}
