import type { DeleteTagRequest, DeleteTagResponse } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { Context } from '../context.ts';
import { eventHeaderOf } from '../ticket/event-header.ts';
import { removeTagsFromTickets } from './remove-deleted.ts';
import { requireChildless, tagDeletedEvent } from './rules/tag.ts';

/** How long a request or bulk that was validated before the deletion of a tag may still write the tag to a ticket. */
const cleanUpForSeconds = 24 * 60 * 60;

/**
 * Deletes a tag and removes it from all tickets. Tickets stop showing it at once, even before it is removed from them.
 * If this request is interrupted, `cleanUpDeletedTags` does the rest.
 *
 * Errors: tag_not_found, tag_has_children. Source: docs/reference/api.md, Tags; docs/reference/api.md, Values.
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
    return { tag, event: tagDeletedEvent(version, now, eventHeaderOf(context, call)) };
  });
  await removeTagsFromTickets(context, [{ id, deletedBy }], call.signal);
  return { $typeName: 'ticketing.tickets.v1.DeleteTagResponse', success: true };
}
