import type { Logger } from '@ticketing/runtime/logger.ts';
import type { MessageReference } from '../message/external-id-store.ts';
import type { ConversationStore } from '../message/store.ts';
import type { TicketStore } from '../ticket/store/store.ts';

export interface ReportDeps {
  conversations: Pick<ConversationStore, 'reportDelivery' | 'findDelivery' | 'findUnreported' | 'setReported'>;
  tickets: Pick<TicketStore, 'setDelivery'>;
}

/**
 * Has the ticket of a message show the delivery of the message as it is, if the ticket is to show it. Several processes may
 * do so at once: a ticket does not go back to an earlier state.
 */
export async function reportDelivery(deps: ReportDeps, { ticketId, conversationId }: MessageReference): Promise<void> {
  for (;;) {
    const delivery = await deps.conversations.findDelivery(conversationId);
    if (!delivery) return;
    await deps.tickets.setDelivery(ticketId, conversationId, delivery);
    if (await deps.conversations.setReported(conversationId, delivery)) return;
  }
}

/** Does the same; if it fails, the scheduler does it later. */
export async function tryToReport(deps: ReportDeps, log: Logger, message: MessageReference): Promise<void> {
  await reportDelivery(deps, message).catch((error: unknown) => {
    log.info({ err: error, ...message }, 'a ticket does not show the state of its mail yet');
  });
}

/** Has the ticket of a message show the delivery of the message from now on. */
export async function showDelivery(deps: ReportDeps, message: MessageReference): Promise<void> {
  await deps.conversations.reportDelivery(message);
  await reportDelivery(deps, message);
}

const batchSize = 100;

/**
 * Has all tickets show the deliveries that they do not show, because a process has died or the store was unavailable.
 *
 * Errors: an AggregateError with the error of each message that could not be reported.
 */
export async function reportDeliveries(deps: ReportDeps): Promise<void> {
  const errors: unknown[] = [];
  for (let last: number | undefined = 0; last !== undefined; ) {
    const found: MessageReference[] = await deps.conversations.findUnreported(last, batchSize);
    for (const message of found) await reportDelivery(deps, message).catch((error: unknown) => errors.push(error));
    last = found[batchSize - 1]?.conversationId;
  }
  if (errors.length > 0) throw new AggregateError(errors, 'some tickets do not show the deliveries of their messages');
}
