import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import type { Context } from '../context.ts';
import { eventHeader } from './event-header.ts';
import { decideReopening } from './rules/decision.ts';
import { ignoreDeleted, writeTicket } from './write.ts';

const batchSize = 100;

/**
 * Opens all pending tickets whose `dueBy` has passed. An error of one ticket does not stop the others.
 *
 * Errors: an AggregateError with the error of each ticket that could not be opened.
 * Source: docs/reference/api.md, Status and closing.
 */
export async function reopenDueTickets(context: Context): Promise<void> {
  const actor = serviceCaller('tickets');
  const failed = new Map<number, unknown>();
  for (;;) {
    const now = context.now();
    const due = await context.tickets.dueIds(new Date(now * 1000), batchSize + failed.size);
    const ids = due.filter((id) => !failed.has(id));
    await Promise.all(
      ids.map((id) =>
        writeTicket(context, id, ({ ticket }) => decideReopening(ticket, now, eventHeader(context, actor)))
          .catch(ignoreDeleted)
          .catch((error: unknown) => failed.set(id, error)),
      ),
    );
    if (ids.length < batchSize) break;
  }
  if (failed.size > 0) throw new AggregateError([...failed.values()], `tickets ${[...failed.keys()]} are not reopened`);
}
