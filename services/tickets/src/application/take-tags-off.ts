import { changeFields } from '../domain/ticket.ts';
import type { DeletedTag } from '../store/tag-store.ts';
import { changeTicket, passOverDeleted } from './change-ticket.ts';
import type { Context } from './context.ts';
import { updatedEvent } from './ticket-event.ts';

/** A deleted tag, and who deleted it. */
type RemovedTag = Pick<DeletedTag, 'id' | 'deletedBy'>;

const atOnce = 10;

/**
 * Takes deleted tags off the tickets that carry them, each by one ordinary change in the name of who deleted them. May
 * run again, and at once with itself: a ticket that has lost them is passed over.
 */
export async function takeTagsOff(context: Context, gone: readonly RemovedTag[], signal?: AbortSignal): Promise<void> {
  const query = { tagIds: { $in: gone.map(({ id }) => id) } };
  while (!signal?.aborted) {
    const page = await context.tickets.page({
      query,
      order: { key: 't.id', direction: 1 },
      now: context.now(),
      limit: atOnce,
      offset: 0,
      behind: undefined,
      withRawData: false,
    });
    if (page.count === 0) return;
    await Promise.all(page.tickets().map(({ ticket }) => takeOff(context, ticket.id, gone).catch(passOverDeleted)));
  }
}

async function takeOff(context: Context, ticketId: number, gone: readonly RemovedTag[]): Promise<void> {
  await changeTicket(context, ticketId, ({ ticket }) => {
    const carried = gone.filter(({ id }) => ticket.tagIds.includes(id));
    const [first] = carried;
    if (!first) return {};
    const tagIds = ticket.tagIds.filter((id) => !carried.some((tag) => tag.id === id));
    const { after, changed } = changeFields(ticket, { tagIds }, context.now());
    return { write: { after, changed, event: updatedEvent(ticket, after, changed, first.deletedBy) } };
  });
}
