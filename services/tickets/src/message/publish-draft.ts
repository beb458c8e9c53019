import { DomainError, notFound } from '@ticketing/errors/domain-error.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { eventHeaderFor } from '../event-header.ts';
import type { ReadSettings } from '../settings.ts';
import { ownAddresses } from '../ticket/rules/subchannels.ts';
import { type AddMessageDeps, newMail, requireRoom } from './add.ts';
import { messageWasSent } from './checks.ts';
import { decidePublishedDraft } from './rules/decision.ts';
import type { ConversationInput, ConversationState } from './rules/fields.ts';
import { chooseRecipients } from './rules/reply.ts';
import { messageSender, sendingFields } from './sender.ts';
import type { StoredConversation } from './store.ts';
import { messageWords } from './words.ts';

/** While a process publishes a draft, no other changes it. A call that lasts longer than this has been aborted. */
const publishingForMs = 60_000;

export interface PublishDraftDeps
  extends Pick<AddMessageDeps, 'messages' | 'tickets' | 'commit' | 'textWork' | 'mailQueue' | 'runtime'> {
  settings: ReadSettings;
}

/**
 * Publishes a draft with changes of it: stores it as it will be sent, and then makes it a message of its ticket by the one
 * write of the ticket that has the event too. A draft without recipients gets the recommended ones. Returns false if the
 * draft was changed since it was read.
 *
 * Errors: ticket_not_found, conversation_not_found; no_sender; message_was_sent; too_many_messages; concurrent_change;
 * sandbox_busy and sandbox_crashed, for a long text.
 */
export async function publishDraft(
  deps: PublishDraftDeps,
  call: Call,
  stored: StoredConversation,
  { changes, isSent }: { changes: Partial<ConversationInput>; isSent: boolean },
): Promise<boolean> {
  const startedAt = deps.runtime.monotonicMs();
  const draft = { ...stored.conversation, ...changes };
  const ticket = (await deps.tickets.find(draft.ticketId))?.ticket;
  if (!ticket) throw notFound('Ticket');
  const now = secondsNow(deps.runtime);
  const subchannels = [draft.subchannelId, ticket.subchannelId] as const;
  const sender = await messageSender(deps, call, subchannels);
  const recipients = chooseRecipients(ticket, draft, ownAddresses(await deps.settings()));
  const set: Partial<ConversationInput> = {
    ...changes,
    ...sender,
    ...recipients,
    agentId: draft.agentId ?? sender.agentId,
    authorKey: draft.authorKey ?? sender.authorKey,
    isAutomatic: draft.isAutomatic && sender.isAutomatic,
    publishedBy: call.caller.profileId,
    externalConversationId: null,
    ...(await sendingFields(deps, {
      ticket,
      subchannels,
      recipients,
      isNamed: draft.namedRecipients.length > 0,
      isSent,
    })),
    createdAt: now,
    modifiedAt: now,
  };
  const message: ConversationState = { ...draft, ...set };
  const { id, ticketId, externalConversationId } = message;
  const words = await messageWords(deps.textWork, message, call.caller);
  const mail = await newMail(deps, message, { ticket });
  if (!(await deps.messages.conversations.update(stored, { set, mail, publishingForMs }))) return false;
  // A process that died while it published the draft has claimed another one.
  await deps.messages.externalMessageIds.freeMessage(id);
  if (externalConversationId !== null) {
    await deps.messages.externalMessageIds.claim(externalConversationId, { ticketId, conversationId: id });
  }
  await deps.commit({
    ticketId,
    decide({ ticket: current, draftIds, conversationIds }) {
      if (deps.runtime.monotonicMs() - startedAt > publishingForMs / 2) throw tooSlow();
      if (conversationIds.includes(id)) throw messageWasSent();
      if (!draftIds.includes(id)) throw notFound('Conversation');
      requireRoom({ conversationIds });
      return decidePublishedDraft(current, message, { now, header: eventHeaderFor(deps, call), words });
    },
    requestId: call.idempotency?.id,
  });
  if (mail !== null) deps.mailQueue.wake();
  return true;
}

/** Others may soon change the draft again. */
function tooSlow(): DomainError {
  return new DomainError('aborted', 'concurrent_change', 'The publishing of the draft took too long.');
}
