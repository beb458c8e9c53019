import type { Context } from '../context.ts';
import { ignoreDeleted } from '../ticket/commit.ts';
import { eventHeader } from '../ticket/event-header.ts';
import { decideFields } from '../ticket/rules/decision.ts';
import type { TagCleanup } from './store.ts';

const concurrency = 10;

/** A deleted tag, and the actor in whose name it is removed. */
type RemovedTag = Pick<TagCleanup, 'id' | 'deletedBy'>;

/**
 * Removes deleted tags from all tickets that still have one, each by one change in the name of the profile that deleted
 * the tag. It may run several times, also concurrently: a ticket without the tags is not changed.
 */
export async function removeTagsFromTickets(
  context: Context,
  tags: readonly RemovedTag[],
  signal?: AbortSignal,
): Promise<void> {
  const tagIds = tags.map(({ id }) => id);
  while (!signal?.aborted) {
    const ids = await context.tickets.idsWithTags(tagIds, concurrency);
    if (ids.length === 0) return;
    await Promise.all(ids.map((id) => removeTags(context, id, tags).catch(ignoreDeleted)));
  }
}

async function removeTags(context: Context, ticketId: number, tags: readonly RemovedTag[]): Promise<void> {
  await context.commit({
    ticketId,
    decide({ ticket }) {
      const removed = tags.filter(({ id }) => ticket.tagIds.includes(id));
      const [first] = removed;
      if (!first) return {};
      const tagIds = ticket.tagIds.filter((id) => !removed.some((tag) => tag.id === id));
      return decideFields(ticket, { tagIds }, context.now(), eventHeader(context, first.deletedBy));
    },
  });
}

/**
 * Removes deleted tags from the tickets that still have them: the process that deleted a tag may have died before it
 * had changed all tickets, and a ticket may be written with a tag after its deletion. The cleanup of a tag ends when
 * its time has passed. It may run several times, also at once in several processes.
 */
export async function cleanUpDeletedTags(context: Context): Promise<void> {
  const startedAt = context.now();
  const tags = await context.tags.pendingCleanups();
  if (tags.length === 0) return;
  await removeTagsFromTickets(context, tags);
  for (const { id, cleanUpUntil } of tags) if (cleanUpUntil < startedAt) await context.tags.finishCleanup(id);
}
