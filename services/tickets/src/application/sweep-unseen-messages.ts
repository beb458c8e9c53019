import type { Context } from './context.ts';

/** No request that adds a message takes this long. */
const unseenMs = 10 * 60_000;
const batchSize = 500;

/** Removes the messages that no ticket has, because the process that added or deleted them died. */
export async function sweepUnseenMessages(context: Context): Promise<void> {
  for (;;) {
    const unseen = await context.conversations.unseenFor(unseenMs, batchSize);
    const idsOf = new Map<number, Set<number>>();
    for (const ticketId of new Set(unseen.map((one) => one.ticketId))) {
      const messages = await context.tickets.findMessages(ticketId);
      idsOf.set(ticketId, new Set([...(messages?.conversationIds ?? []), ...(messages?.draftIds ?? [])]));
    }
    const isSeen = (one: { id: number; ticketId: number }) => idsOf.get(one.ticketId)?.has(one.id) ?? false;
    const seen = unseen.filter(isSeen).map(({ id }) => id);
    if (seen.length > 0) await context.conversations.setSeen(seen);
    for (const { id } of unseen.filter((one) => !isSeen(one))) {
      await context.externalMessageIds.freeMessage(id);
      await context.conversations.remove(id);
    }
    if (unseen.length < batchSize) return;
  }
}
