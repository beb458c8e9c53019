import type {
  UpdateKnowledgeSourceRequest,
  UpdateKnowledgeSourceResponse,
} from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import {
  type KnowledgeSource,
  KnowledgeStatus,
} from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { deleteSource } from './delete.ts';
import type { SourceParts } from './open.ts';
import { readSource } from './read.ts';
import { requireTags } from './require-tags.ts';
import { toTitleWords } from './rules/search-words.ts';
import { changeSource, requireValidSource, type SourceInput } from './rules/state.ts';
import { toFields } from './schema.ts';
import { sourceSubject, sourceToProto } from './to-proto.ts';

/**
 * Changes a knowledge source, or deletes it by `status`; then its other fields do not matter. If no value differs, nothing
 * is changed.
 *
 * Errors: knowledge_source_not_found; too_short, unknown_tag, unknown_parent, knowledge_cycle, knowledge_too_deep,
 * teams_required; knowledge_source_has_children; dependency_unavailable.
 * Source: docs/reference/api.md, Knowledge; docs/reference/api.md, Presence and null.
 */
export async function updateKnowledgeSource(
  parts: SourceParts,
  call: Call,
  request: UpdateKnowledgeSourceRequest,
): Promise<UpdateKnowledgeSourceResponse> {
  const { id } = request;
  const input = toInput(request);
  if (input.status === KnowledgeStatus.DELETED) return toResponse(await deleteSource(parts, call, id));
  // Checks first that the source exists, because reading the tags and cleaning the text take longer.
  await readSource(parts, call, id);
  if (input.tags) await requireTags(parts, call, input.tags);
  await changeFields(parts, call, id, input);
  call.idempotency?.addSubject(sourceSubject(id));
  return toResponse(sourceToProto(await readSource(parts, call, id)));
}

async function changeFields(
  { sources, textWork, runtime }: SourceParts,
  { caller }: Call,
  id: number,
  input: Partial<SourceInput>,
): Promise<void> {
  const cleaned = input.text === undefined ? undefined : await textWork.clean(input.text, callerKey(caller));
  const cleanInput = cleaned ? { ...input, text: cleaned.text } : input;
  await sources.change(async (tree) => {
    const stored = await sources.findStored(id);
    if (!stored || !tree.get(id)) throw notFound('Knowledge source');
    const { textWords, ...before } = stored;
    const after = changeSource(before, cleanInput, secondsNow(runtime));
    requireValidSource(tree, after);
    if (after === before) return undefined;
    const words = { textWords: cleaned?.textWords ?? textWords, titleWords: toTitleWords(after) };
    return { source: after, write: { fields: toFields(after, words), requestId: null } };
  });
}

function toResponse(knowledgeSource: KnowledgeSource): UpdateKnowledgeSourceResponse {
  return { $typeName: 'ticketing.knowledge.v1.UpdateKnowledgeSourceResponse', success: true, knowledgeSource };
}

type Values = { [Name in keyof SourceInput]?: SourceInput[Name] | undefined };

/** Returns the fields that the mask names. The contract's rules have checked that a field without a value may be cleared. */
function toInput(request: UpdateKnowledgeSourceRequest): Partial<SourceInput> {
  const values: Record<string, Values> = {
    type: { type: request.type },
    status: { status: request.status },
    source: { source: request.source },
    name: { name: request.name?.trim() },
    title: { title: request.title?.trim() },
    text: { text: request.text },
    tags: { tags: request.tags },
    teams: { teams: request.teams },
    parent: { parent: request.parent ?? null },
    confidential: { confidential: request.confidential },
    excluded: { excluded: request.excluded },
  };
  return Object.assign({}, ...(request.updateMask?.paths ?? []).map((path) => values[path]));
}
