import type { Context } from './context.ts';

/** Erases what this service stores of a deleted ticket outside of the ticket's document. It may run several times. */
export async function finishErasure(context: Context, ticketId: number): Promise<void> {
  await context.externalIds.free(ticketId);
  await context.analysisRequests.forget(ticketId);
  await context.idempotency.eraseAnswersAbout(ticketId);
  await context.erasures.confirm(ticketId, 'tickets');
}
