import type { DeleteTagRequest, DeleteTagResponse } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from '../application/context.ts';
import { tagDeletedEvent } from '../application/tag-event.ts';
import { takeTagsOff } from '../application/take-tags-off.ts';
import { requireChildless } from '../domain/tag.ts';

/** A request that was checked against the tag may write a ticket as late as this; so may a bulk that was given up. */
const cleanUpForSeconds = 24 * 60 * 60;

/**
 * Deletes a tag, and takes it off all tickets. It is gone at once; tickets that carry it yet no longer show it. What this
 * request leaves undone, `finishTagDeletions` does.
 *
 * Errors: tag_not_found, tag_has_children. Source: decisions.md sections 1 and 9.
 */
export async function deleteTag(context: Context, call: Call, { id }: DeleteTagRequest): Promise<DeleteTagResponse> {
  const now = context.now();
  const deletedBy = { profileId: call.caller.profileId, kind: call.caller.kind };
  await context.tags.change((tree) => {
    const before = tree.get(id);
    if (!before) throw notFound('Tag');
    requireChildless(tree, id);
    const version = before.version + 1;
    const tag = { id, version, deleted: true, cleanUpUntil: now + cleanUpForSeconds, deletedBy } as const;
    return { tag, event: tagDeletedEvent(version, now, call) };
  });
  await takeTagsOff(context, [{ id, deletedBy }], call.signal);
  return { $typeName: 'ticketing.tickets.v1.DeleteTagResponse', success: true };
}
