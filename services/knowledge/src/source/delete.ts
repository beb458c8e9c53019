import {
  type KnowledgeSource,
  KnowledgeType,
} from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { eraseResponses } from './erase-responses.ts';
import { requireChildless } from './rules/state.ts';
import { deletedSourceMessage } from './to-proto.ts';

/**
 * Deletes a source for good: nothing is left of it but its id.
 *
 * Errors: knowledge_source_not_found, knowledge_source_has_children.
 */
export async function deleteSource(context: Context, { idempotency }: Call, id: number): Promise<KnowledgeSource> {
  const { sources, now } = context;
  const requestId = idempotency?.id ?? null;
  let type: KnowledgeType = KnowledgeType.OTHER;
  let createdAt = now();
  await sources.change(async (tree) => {
    const [before] = tree.get(id) ? await sources.read([id]) : [];
    // The same request has deleted it in a process that died before it responded.
    if (!before && requestId !== null && (await sources.findDeleted(id))?.requestId === requestId) return undefined;
    if (!before) throw notFound('Knowledge source');
    requireChildless(tree, id);
    ({ type, createdAt } = before);
    return { source: { id, version: before.version + 1, deleted: true }, write: { fields: null, requestId } };
  });
  await eraseResponses(context, id);
  return deletedSourceMessage(id, type, { createdAt, modifiedAt: now() });
}
