import type { Context } from './context.ts';

type ErasingContext = Pick<Context, 'analyses' | 'deleted' | 'intents' | 'learning' | 'sessions'>;

/** Erases what this service stores of a deleted ticket. Source: docs/reference/api.md, Deletion. */
export async function eraseTicket(context: ErasingContext, ticketId: number): Promise<void> {
  // First, so that a process that stores something of the ticket from now on removes it again.
  await context.deleted.tickets.add(ticketId);
  await eraseShares(context, [ticketId]);
}

/** Erases the analyses, intents and sessions of tickets, and the examples learned from them. */
export async function eraseShares(
  { analyses, intents, learning, sessions }: Omit<ErasingContext, 'deleted'>,
  ticketIds: readonly number[],
): Promise<void> {
  await analyses.erase(ticketIds);
  await intents.erase(ticketIds);
  await sessions.erase(ticketIds);
  await learning.examples.erase(ticketIds);
}
