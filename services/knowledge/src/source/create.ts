import type {
  CreateKnowledgeSourceRequest,
  CreateKnowledgeSourceResponse,
} from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { KnowledgeStatus, KnowledgeType } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { SourceParts } from './open.ts';
import { readSource } from './read.ts';
import { requireTags } from './require-tags.ts';
import { toTitleWords } from './rules/search-words.ts';
import { estimateBytes, requireValidSource, type SourceState } from './rules/state.ts';
import { toFields } from './schema.ts';
import { sourceSubject, sourceToProto } from './to-proto.ts';

/**
 * Creates a knowledge source.
 *
 * Errors: too_short, unknown_tag, unknown_parent, knowledge_too_deep, teams_required; dependency_unavailable.
 * Source: docs/reference/api.md, Knowledge.
 */
export async function createKnowledgeSource(
  parts: SourceParts,
  call: Call,
  request: CreateKnowledgeSourceRequest,
): Promise<CreateKnowledgeSourceResponse> {
  const { sources, sourceIds, textWork, runtime } = parts;
  const { idempotency } = call;
  const { text, textWords } = await textWork.clean(request.text ?? '', callerKey(call.caller));
  const source = newSource(request, text, secondsNow(runtime));
  requireValidSource(await sources.tree(), source);
  await requireTags(parts, call, request.tags);
  const next = () => sourceIds.next();
  const id = idempotency ? await idempotency.reserve('knowledgeSource', next) : await next();
  await sources.change(async (tree) => {
    // The same request has created it in a process that died before it responded.
    if (idempotency && (tree.get(id) || (await sources.findDeleted(id)))) return undefined;
    const created = { ...source, id };
    requireValidSource(tree, created);
    const words = { textWords, titleWords: toTitleWords(created) };
    return { source: created, write: { fields: toFields(created, words), requestId: null } };
  });
  idempotency?.addSubject(sourceSubject(id));
  const knowledgeSource = sourceToProto(await readSource(parts, call, id));
  return { $typeName: 'ticketing.knowledge.v1.CreateKnowledgeSourceResponse', knowledgeSource };
}

/** Returns the source of a request. It has no id yet. */
function newSource(request: CreateKnowledgeSourceRequest, text: string, now: number): SourceState {
  const source = {
    id: 0,
    version: 1,
    type: request.type ?? KnowledgeType.UNSPECIFIED,
    status: KnowledgeStatus.ACTIVE,
    source: request.source ?? '',
    name: (request.name ?? '').trim(),
    title: (request.title ?? '').trim(),
    text,
    tags: request.tags,
    teams: request.teams,
    parent: request.parent ?? null,
    confidential: request.confidential ?? false,
    excluded: request.excluded ?? false,
    createdAt: now,
    modifiedAt: now,
  };
  return { ...source, bytes: estimateBytes(source) };
}
