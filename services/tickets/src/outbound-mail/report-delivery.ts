import type { MessageReference } from '../message/external-id-store.ts';
import type { ConversationStore } from '../message/store.ts';
import type { TicketStore } from '../ticket/store/store.ts';

export interface ReportDeps {
  conversations: Pick<ConversationStore, 'reportDelivery' | 'findDelivery' | 'findUnreported' | 'setReported'>;
  tickets: Pick<TicketStore, 'setDelivery'>;
}

/**
 * Has the ticket of a message show the state of the message, also if that changes meanwhile. Several processes may do so at
 * once.
 */
export async function reportDelivery(deps: ReportDeps, { ticketId, conversationId }: MessageReference): Promise<void> {
  for (;;) {
    const status = await deps.conversations.findDelivery(conversationId);
    if (status === undefined) return;
    await deps.tickets.setDelivery(ticketId, conversationId, status);
    if (await deps.conversations.setReported(conversationId, status)) return;
  }
}

/** Has the ticket of a message show the state of the message from now on. */
export async function showDelivery(deps: ReportDeps, message: MessageReference): Promise<void> {
  await deps.conversations.reportDelivery(message);
  await reportDelivery(deps, message);
}

const batchSize = 100;

/** Does the same for all messages whose tickets do not show it, because a process has died or a mail is sent again. */
export async function reportDeliveries(deps: ReportDeps): Promise<void> {
  for (;;) {
    const found = await deps.conversations.findUnreported(batchSize);
    for (const message of found) await reportDelivery(deps, message);
    if (found.length < batchSize) return;
  }
}
