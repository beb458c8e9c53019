import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import type { ScheduledTask } from '@ticketing/service-kit/lifecycle/schedule.ts';
import { reopenDue } from '../domain/ticket.ts';
import { finishErasing } from '../rpc/delete-ticket.ts';
import { changeTicket, passOverDeleted } from './change-ticket.ts';
import type { Context } from './context.ts';
import { finishTagDeletions } from './finish-tag-deletions.ts';
import { reopenedEvent } from './ticket-event.ts';

const batch = 100;

/** What the scheduler role of this service does. Every replica may do it: the store lets each thing happen once. */
export function scheduledTasks(context: Context): ScheduledTask[] {
  return [
    { name: 'reopen due tickets', everyMs: 3_000, run: () => reopenDueTickets(context) },
    { name: 'finish abandoned bulks', everyMs: 10_000, run: () => context.bulks.finishAbandoned() },
    { name: 'finish deletions', everyMs: 10_000, run: () => finishDeletions(context) },
    { name: 'finish deletions of tags', everyMs: 30_000, run: () => finishTagDeletions(context) },
    { name: 'forget applied bulks', everyMs: 60_000, run: () => context.bulkStore.removeApplied() },
  ];
}

/** Source: decisions.md section 5, Status. */
async function reopenDueTickets(context: Context): Promise<void> {
  const itself = serviceCaller('tickets');
  const failed = new Map<number, unknown>();
  for (;;) {
    const now = context.now();
    const due = await context.tickets.due(new Date(now * 1000), batch + failed.size);
    const ids = due.filter((id) => !failed.has(id));
    // A ticket that is held by a bulk, or can not be written, holds up no other.
    await Promise.all(
      ids.map((id) =>
        changeTicket(context, id, ({ ticket }) => {
          const { after, changed } = reopenDue(ticket, now);
          if (changed.length === 0) return {};
          return { write: { after, changed, event: reopenedEvent(ticket, after, changed, itself) } };
        })
          .catch(passOverDeleted)
          .catch((error: unknown) => failed.set(id, error)),
      ),
    );
    if (ids.length < batch) break;
  }
  if (failed.size > 0) throw new AggregateError([...failed.values()], `tickets ${[...failed.keys()]} are not reopened`);
}

async function finishDeletions(context: Context): Promise<void> {
  for (;;) {
    const ids = await context.tickets.notErasedBy('tickets', batch);
    for (const id of ids) await finishErasing(context, id);
    if (ids.length < batch) return;
  }
}
