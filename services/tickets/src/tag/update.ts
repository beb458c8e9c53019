import type { UpdateTagRequest, UpdateTagResponse } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { eventHeaderFor } from '../event-header.ts';
import type { TagDeps } from './open.ts';
import { changeTag, requireValidNameAndParent, type TagInput, tagChangedEvent } from './rules/tag.ts';
import { tagMessages } from './to-proto.ts';

/**
 * Changes a tag. If no value differs, the tag keeps its version and there is no event.
 *
 * Errors: tag_not_found, duplicate_tag, unknown_tag, tag_cycle, tag_too_deep.
 * Source: docs/reference/api.md, Tags; docs/reference/api.md, Presence and null.
 */
export async function updateTag(deps: TagDeps, call: Call, request: UpdateTagRequest): Promise<UpdateTagResponse> {
  const input = readInput(request);
  const tree = await deps.tags.change((current) => {
    const before = current.get(request.id);
    if (!before) throw notFound('Tag');
    const after = changeTag(before, input, secondsNow(deps.runtime));
    requireValidNameAndParent(current, after);
    return after === before ? undefined : { tag: after, event: tagChangedEvent(after, eventHeaderFor(deps, call)) };
  });
  const [tag] = tagMessages([request.id], tree);
  if (!tag) throw new Error('the changed tag is not in the tree');
  return { $typeName: 'ticketing.tickets.v1.UpdateTagResponse', success: true, tag };
}

type Values = { [Name in keyof TagInput]: TagInput[Name] | undefined };

/** The fields that the mask names. The rules of the contract have checked that those without a value may be cleared. */
function readInput(request: UpdateTagRequest): TagInput {
  const values: Record<string, Values> = {
    name: { name: request.name?.trim() },
    parent: { parent: request.parent ?? null },
    reference: { reference: request.reference },
    type: { type: request.type },
    visibility: { visibility: request.visibility },
    color: { color: request.color ?? null },
    routing_relevant: { routingRelevant: request.routingRelevant },
    sla: { sla: request.sla ?? null },
    first_response_sla: { firstResponseSla: request.firstResponseSla ?? null },
    priority: { priority: request.priority ?? null },
    detection: { keywords: request.detection?.keywords },
  };
  const inputs = (request.updateMask?.paths ?? []).map((path) => values[path]);
  return Object.assign({}, ...inputs);
}
