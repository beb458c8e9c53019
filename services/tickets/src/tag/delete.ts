import type { DeleteTagRequest, DeleteTagResponse } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { eventHeaderFor } from '../event-header.ts';
import type { TagDeps } from './open.ts';
import { requireChildless, tagDeletedEvent } from './rules/tag.ts';

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
