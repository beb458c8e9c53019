import { eraseFiles } from '@ticketing/files/sweep-files.ts';
import { type Context, ticketSubject } from '../context.ts';

/**
 * Erases the data of a deleted ticket that this service stores outside of the ticket's document, and in its unsent
 * events. It may run several times.
 */
export async function finishErasure(context: Context, ticketId: number): Promise<void> {
  await context.erasures.wipeUnsentValues(ticketId);
  await context.externalIds.free(ticketId);
  await context.externalMessageIds.free(ticketId);
  await context.conversations.removeOf(ticketId);
  await context.analysisRequests.removeOf(ticketId);
  await context.erpResponses.eraseOf(ticketId);
  await context.idempotency.eraseAbout(ticketSubject(ticketId));
  await eraseFiles(context, ticketId);
  await context.erasures.confirm(ticketId, 'tickets');
}
