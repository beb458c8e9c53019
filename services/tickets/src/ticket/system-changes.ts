import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { eventHeader } from '../event-header.ts';
import type { TagCleanup } from '../tag/store.ts';
import { type Commit, ignoreDeleted } from './commit.ts';
import { decideFields, decideReopening } from './rules/decision.ts';
import type { TicketStore } from './store/store.ts';

const batchSize = 100;

/** The dependencies of a change that no request makes, with the reads of tickets that it needs. */
interface ChangeDeps<Reads extends keyof TicketStore> {
  tickets: Pick<TicketStore, Reads>;
  commit: Commit;
  runtime: Runtime;
}

export type ReopenDeps = ChangeDeps<'dueIds'>;

/**
 * Opens all pending tickets whose `dueBy` has passed. An error of one ticket does not stop the others.
 *
 * Errors: an AggregateError with the error of each ticket that could not be opened.
 * Source: docs/reference/api.md, Status and closing.
 */
export async function reopenDueTickets(deps: ReopenDeps): Promise<void> {
  const actor = serviceCaller('tickets');
  const failed = new Map<number, unknown>();
  for (;;) {
    const now = secondsNow(deps.runtime);
    const due = await deps.tickets.dueIds(new Date(now * 1000), batchSize + failed.size);
    const ids = due.filter((id) => !failed.has(id));
    await Promise.all(
      ids.map((id) =>
        deps
          .commit({ ticketId: id, decide: ({ ticket }) => decideReopening(ticket, now, eventHeader(deps, actor)) })
          .catch(ignoreDeleted)
          .catch((error: unknown) => failed.set(id, error)),
      ),
    );
    if (ids.length < batchSize) break;
  }
  if (failed.size > 0) throw new AggregateError([...failed.values()], `tickets ${[...failed.keys()]} are not reopened`);
}

const concurrency = 10;

/** A deleted tag, and the actor in whose name it is removed. */
type RemovedTag = Pick<TagCleanup, 'id' | 'deletedBy'>;

type RemoveTagsDeps = ChangeDeps<'idsWithTags'>;

/**
 * Removes deleted tags from all tickets that still have one, each by one change in the name of the profile that deleted
 * the tag. It may run several times, also concurrently: a ticket without the tags is not changed.
 */
export async function removeTags(
  deps: RemoveTagsDeps,
  tags: readonly RemovedTag[],
  signal?: AbortSignal,
): Promise<void> {
  const tagIds = tags.map(({ id }) => id);
  while (!signal?.aborted) {
    const ticketIds = await deps.tickets.idsWithTags(tagIds, concurrency);
    if (ticketIds.length === 0) return;
    await Promise.all(ticketIds.map((ticketId) => removeFromTicket(deps, ticketId, tags).catch(ignoreDeleted)));
  }
}

async function removeFromTicket(
  { commit, runtime }: RemoveTagsDeps,
  ticketId: number,
  tags: readonly RemovedTag[],
): Promise<void> {
  await commit({
    ticketId,
    decide({ ticket }) {
      const removed = tags.filter(({ id }) => ticket.tagIds.includes(id));
      const [first] = removed;
      if (!first) return {};
      const tagIds = ticket.tagIds.filter((id) => !removed.some((tag) => tag.id === id));
      return decideFields(ticket, { tagIds }, secondsNow(runtime), eventHeader({ runtime }, first.deletedBy));
    },
  });
}
