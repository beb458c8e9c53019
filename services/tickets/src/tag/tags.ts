import { TagReference, TagType, TagVisibility } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import type {
  CreateTagRequest,
  CreateTagResponse,
  DeleteTagRequest,
  DeleteTagResponse,
  GetTagRequest,
  GetTagResponse,
  ListTagsRequest,
  ListTagsResponse,
  UpdateTagRequest,
  UpdateTagResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { IdSequence } from '@ticketing/store/ids/id-sequence.ts';
import { isLargePage, requirePageSize } from '@ticketing/store/paging/page-budget.ts';
import { eventHeaderFor } from '../event-header.ts';
import {
  changeTag,
  requireChildless,
  requireValidNameAndParent,
  type TagInput,
  type TagState,
  tagChangedEvent,
  tagDeletedEvent,
} from './rules.ts';
import type { TagCleanup, TagStore } from './store.ts';
import { tagMessages, tagSize } from './to-proto.ts';

export interface TagDeps {
  tags: TagStore;
  tagIds: Pick<IdSequence, 'next'>;
  /** Removes deleted tags from the tickets that still have one, in the name of the actors that deleted the tags. */
  removeTags(tags: readonly Pick<TagCleanup, 'id' | 'deletedBy'>[], signal?: AbortSignal): Promise<void>;
  runtime: Runtime;
}

const defaultLimit = 100;

/** Lists tags by full name. Errors: page_too_large. Source: docs/reference/api.md, Tags. */
export async function listTags(deps: TagDeps, _call: Call, request: ListTagsRequest): Promise<ListTagsResponse> {
  const tree = await deps.tags.tree();
  const part = request.q?.toLowerCase() ?? '';
  const matches = [...tree.all()]
    .filter((tag) => request.includeDisabled === true || tag.visibility !== TagVisibility.DISABLED)
    .filter((tag) => request.type === undefined || tag.type === request.type)
    .map((tag) => ({ id: tag.id, fullName: tree.fullName(tag) }))
    .filter(({ fullName }) => fullName.toLowerCase().includes(part))
    .sort((left, right) => left.fullName.localeCompare(right.fullName, 'en') || left.id - right.id);
  const offset = request.offset ?? 0;
  const page = matches.slice(offset, offset + (request.limit ?? defaultLimit));
  const tags = tagMessages(
    page.map(({ id }) => id),
    tree,
  );
  const sizes = tags.map(tagSize);
  requirePageSize(sizes);
  const response: ListTagsResponse = {
    $typeName: 'ticketing.tickets.v1.ListTagsResponse',
    success: true,
    tags,
    total: matches.length,
  };
  return isLargePage(sizes) ? markAsLarge(response) : response;
}

/** Reads one tag. Errors: tag_not_found. Source: docs/reference/api.md, Tags. */
export async function getTag(deps: TagDeps, _call: Call, request: GetTagRequest): Promise<GetTagResponse> {
  const [tag] = tagMessages([request.id], await deps.tags.tree());
  if (!tag) throw notFound('Tag');
  return { $typeName: 'ticketing.tickets.v1.GetTagResponse', tag };
}

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

/** How long a request or bulk that was validated before the deletion of a tag may still write the tag to a ticket. */
const cleanUpForSeconds = 24 * 60 * 60;

/**
 * Deletes a tag and removes it from all tickets. Tickets stop showing it at once, even before it is removed from them.
 * If this request is interrupted, `cleanUpDeletedTags` does the rest.
 *
 * Errors: tag_not_found, tag_has_children. Source: docs/reference/api.md, Tags; docs/reference/api.md, Values.
 */
export async function deleteTag(deps: TagDeps, call: Call, { id }: DeleteTagRequest): Promise<DeleteTagResponse> {
  const now = secondsNow(deps.runtime);
  const deletedBy = { profileId: call.caller.profileId, kind: call.caller.kind };
  await deps.tags.change((tree) => {
    const before = tree.get(id);
    if (!before) throw notFound('Tag');
    requireChildless(tree, id);
    const version = before.version + 1;
    const tag = { id, version, deleted: true, cleanUpUntil: now + cleanUpForSeconds, deletedBy } as const;
    return { tag, event: tagDeletedEvent(version, now, eventHeaderFor(deps, call)) };
  });
  await deps.removeTags([{ id, deletedBy }], call.signal);
  return { $typeName: 'ticketing.tickets.v1.DeleteTagResponse', success: true };
}

/**
 * Removes deleted tags from the tickets that still have them: the process that deleted a tag may have died before it
 * had changed all tickets, and a ticket may be written with a tag after its deletion. The cleanup of a tag ends when
 * its time has passed. It may run several times, also at once in several processes.
 */
export async function cleanUpDeletedTags({ tags, removeTags, runtime }: Omit<TagDeps, 'tagIds'>): Promise<void> {
  const startedAt = secondsNow(runtime);
  const deleted = await tags.pendingCleanups();
  if (deleted.length === 0) return;
  await removeTags(deleted);
  for (const { id, cleanUpUntil } of deleted) if (cleanUpUntil < startedAt) await tags.finishCleanup(id);
}
