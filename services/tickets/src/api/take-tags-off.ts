import type { Caller } from '@ticketing/service-kit/caller.ts';
import { changeFields } from '../domain/ticket.ts';
import type { TicketEvent } from '../domain/ticket-event.ts';
import { changeTicket, passOverDeleted } from './change-ticket.ts';
import type { Context } from './context.ts';
import { updatedEvent } from './ticket-event.ts';

/** On whose behalf tags leave their tickets, and when to stop. */
export interface TakingOff {
  caller: Caller;
  cause: TicketEvent['cause'];
  signal?: AbortSignal;
}

const atOnce = 10;

/**
 * Takes deleted tags off the tickets that carry them, each by one ordinary change. May run again, and at once with
 * itself: a ticket that has lost them is passed over.
 */
export async function takeTagsOff(context: Context, gone: ReadonlySet<number>, by: TakingOff): Promise<void> {
  while (!by.signal?.aborted) {
    const { tickets } = await context.tickets.page({
      query: { tagIds: { $in: [...gone] } },
      order: { key: 't.id', direction: 1 },
      now: context.now(),
      limit: atOnce,
      offset: 0,
      behind: undefined,
      withRawData: false,
    });
    if (tickets.length === 0) return;
    await Promise.all(tickets.map(({ ticket }) => takeOff(context, ticket.id, gone, by).catch(passOverDeleted)));
  }
}

async function takeOff(
  context: Context,
  ticketId: number,
  gone: ReadonlySet<number>,
  { caller, cause }: TakingOff,
): Promise<void> {
  await changeTicket(context, ticketId, ({ ticket }) => {
    const tagIds = ticket.tagIds.filter((id) => !gone.has(id));
    const { after, changed } = changeFields(ticket, { tagIds }, context.now());
    if (changed.length === 0) return {};
    return { write: { after, changed, event: { ...updatedEvent(ticket, after, changed, caller), cause } } };
  });
}
