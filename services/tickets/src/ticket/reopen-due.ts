import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { eventHeader } from '../event-header.ts';
import { type Commit, ignoreDeleted } from './commit.ts';
import { decideReopening } from './rules/decision.ts';
import type { TicketStore } from './store/store.ts';

const batchSize = 100;

/** The dependencies of `reopenDueTickets`. */
export interface ReopenDeps {
  tickets: Pick<TicketStore, 'dueIds'>;
  commit: Commit;
  runtime: Runtime;
}

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
