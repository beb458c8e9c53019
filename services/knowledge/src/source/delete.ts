import {
  type KnowledgeSource,
  KnowledgeType,
} from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { SourceParts } from './open.ts';
import { requireChildless } from './rules/state.ts';
import { deletedSourceToProto, sourceSubject } from './to-proto.ts';

/**
 * Deletes a source for good: nothing is left of it but its id.
 *
 * Errors: knowledge_source_not_found, knowledge_source_has_children.
 */
export async function deleteSource(parts: SourceParts, { idempotency }: Call, id: number): Promise<KnowledgeSource> {
  const { sources, runtime } = parts;
  const requestId = idempotency?.id ?? null;
  const [before] = await sources.read([id]);
  await sources.change(async (tree) => {
    const node = tree.get(id);
    // The same request has deleted it in a process that died before it responded.
    if (!node && requestId !== null && (await sources.findDeleted(id))?.requestId === requestId) return undefined;
    if (!node) throw notFound('Knowledge source');
    requireChildless(tree, id);
    return { source: { id, version: node.version + 1, deleted: true }, write: { fields: null, requestId } };
  });
  const now = secondsNow(runtime);
  await eraseResponses(parts, id);
  return deletedSourceToProto(id, before?.type ?? KnowledgeType.OTHER, {
    createdAt: before?.createdAt ?? now,
    modifiedAt: now,
  });
}

/** Erases the stored responses about a deleted source, because they contain its text. */
async function eraseResponses({ sources, idempotency }: SourceParts, id: number): Promise<void> {
  await idempotency.eraseAbout(sourceSubject(id));
  await sources.finishErasure(id);
}

/** Erases the responses that a process left because it died after it had deleted a source. */
export async function erasePendingResponses(parts: SourceParts): Promise<void> {
  for (const id of await parts.sources.pendingErasures()) await eraseResponses(parts, id);
}
