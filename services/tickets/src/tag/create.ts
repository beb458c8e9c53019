import { TagReference, TagType, TagVisibility } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import type { CreateTagRequest, CreateTagResponse } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { eventHeaderFor } from '../event-header.ts';
import type { TagDeps } from './open.ts';
import { requireValidNameAndParent, tagChangedEvent } from './rules/tag.ts';
import type { TagState } from './rules/tree.ts';

/** Creates a tag. Errors: duplicate_tag, unknown_tag, tag_too_deep. Source: docs/reference/api.md, Tags. */
export async function createTag(deps: TagDeps, call: Call, request: CreateTagRequest): Promise<CreateTagResponse> {
  const { tags, runtime } = deps;
  const next = () => deps.tagIds.next();
  let id = call.idempotency ? await call.idempotency.reserve('tag', next) : 0;
  await tags.change(async (tree) => {
    // The same request has created it in a process that died before it responded.
    if (call.idempotency && (await tags.isTaken(id))) return undefined;
    const tag = newTag(request, secondsNow(runtime));
    requireValidNameAndParent(tree, tag);
    id ||= await next();
    return { tag: { ...tag, id }, event: tagChangedEvent(tag, eventHeaderFor(deps, call)) };
  });
  return { $typeName: 'ticketing.tickets.v1.CreateTagResponse', success: true, id };
}

/** The tag of a request. It has no id yet. */
function newTag(request: CreateTagRequest, now: number): TagState {
  return {
    id: 0,
    version: 1,
    name: (request.name ?? '').trim(),
    parent: request.parent ?? null,
    reference: request.reference ?? TagReference.TICKET,
    type: request.type ?? TagType.SKILL,
    visibility: request.visibility ?? TagVisibility.PUBLIC,
    color: request.color ?? null,
    routingRelevant: request.routingRelevant ?? true,
    sla: request.sla ?? null,
    firstResponseSla: request.firstResponseSla ?? null,
    priority: request.priority ?? null,
    keywords: request.detection?.keywords ?? [],
    modifiedAt: now,
  };
}
