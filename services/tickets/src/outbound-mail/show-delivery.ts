import type { Logger } from '@ticketing/runtime/logger.ts';
import type { MessageReference } from '../message/external-id-store.ts';
import type { ConversationStore } from '../message/store.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import type { NoteFailure } from './note-failure.ts';

export interface ShowDeps {
  conversations: Pick<
    ConversationStore,
    'showDelivery' | 'findDelivery' | 'findNotShown' | 'setShown' | 'setNoted' | 'setAllNoted'
  >;
  tickets: Pick<TicketStore, 'setDelivery'>;
  noteFailure: NoteFailure;
}

/**
 * Has the ticket of a message show the delivery of the message as it is, if it is to show it, and notes each failure in it.
 * Several processes may do so at once: a ticket does not go back to an earlier state, and a failure is noted once.
 */
export async function showDelivery(deps: ShowDeps, { ticketId, conversationId }: MessageReference): Promise<void> {
  for (;;) {
    const found = await deps.conversations.findDelivery(conversationId);
    if (!found) return;
    const { delivery, failures } = found;
    let mayOpen = !found.hasOpenedTicket;
    for (const failure of failures) {
      const { hasOpened } = await deps.noteFailure({ ticketId, conversationId }, failure, { mayOpen });
      await deps.conversations.setNoted(conversationId, failure.id, { hasOpened });
      mayOpen &&= !hasOpened;
    }
    if (found.hasFailures) await deps.conversations.setAllNoted(conversationId);
    if (!delivery) return;
    await deps.tickets.setDelivery(ticketId, conversationId, delivery);
    if (await deps.conversations.setShown(conversationId, delivery)) return;
  }
}

/** Does the same; if it fails, the scheduler does it later. */
export async function tryToShow(deps: ShowDeps, log: Logger, message: MessageReference): Promise<void> {
  await showDelivery(deps, message).catch((error: unknown) => {
    log.info({ err: error, ...message }, 'a ticket does not show the state of its mail yet');
  });
}

/** Has the ticket of a message show the delivery of the message from now on. */
export async function beginToShow(deps: ShowDeps, message: MessageReference): Promise<void> {
  await deps.conversations.showDelivery(message);
  await showDelivery(deps, message);
}

const batchSize = 100;

/**
 * Has all tickets show the deliveries and failures that they do not show, because a process has died or the store was
 * unavailable.
 *
 * Errors: an AggregateError with the error of each message whose ticket could not be changed.
 */
export async function showDeliveries(deps: ShowDeps): Promise<void> {
  const errors: unknown[] = [];
  for (let last: number | undefined = 0; last !== undefined; ) {
    const found: MessageReference[] = await deps.conversations.findNotShown(last, batchSize);
    for (const message of found) await showDelivery(deps, message).catch((error: unknown) => errors.push(error));
    last = found[batchSize - 1]?.conversationId;
  }
  if (errors.length > 0) throw new AggregateError(errors, 'some tickets do not show the deliveries of their messages');
}
