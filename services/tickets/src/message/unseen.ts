import { claimFiles } from '@ticketing/files/attach-files.ts';
import type { FileContext } from '@ticketing/files/file-context.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import { isPartOfTicket } from './checks.ts';
import {
  type ExternalMessageIdStore,
  isSameMail,
  type MailIdentity,
  type MessageReference,
} from './external-id-store.ts';
import type { ConversationState } from './rules/fields.ts';
import type { MailDocument } from './schema.ts';
import type { ConversationStore } from './store.ts';

export interface UnseenDeps {
  messages: { conversations: ConversationStore; externalMessageIds: ExternalMessageIdStore };
  tickets: Pick<TicketStore, 'findMessages'>;
  attachments: FileContext;
  runtime: Runtime;
}

/** The parts of a message that are stored with it: its sending, and the mail that it is made of. */
interface MailParts {
  mail: MailDocument | null;
  identity?: MailIdentity | undefined;
  /** Makes the raw mail that of the message. */
  assignRawMail?: undefined | ((own: MessageReference) => Promise<void>);
}

/** A message that is stored and has its external id, or the one that is known by that id. */
type Claimed = { conversation: ConversationState; isInserted: boolean } | { known: MessageReference; isTaken: boolean };

/**
 * Stores a message with its files unseen, and then claims its external id: steps 1 to 3 of `addMessage`.
 *
 * Errors: concurrent_change.
 */
export async function storeUnseen(deps: UnseenDeps, proposed: ConversationState, parts: MailParts): Promise<Claimed> {
  const { messages, attachments } = deps;
  const { id: conversationId, ticketId } = proposed;
  await claimFiles(attachments, ticketId, proposed.attachments);
  await parts.assignRawMail?.({ ticketId, conversationId });
  const { conversation, isInserted } = await insertUnseen(deps, proposed, parts.mail);
  if (conversation.externalConversationId === null) return { conversation, isInserted };
  const { owner, isKnown, isTaken } = await claimExternalId(
    deps,
    conversation.externalConversationId,
    conversation,
    parts.identity,
  );
  if (owner.conversationId === conversation.id) return { conversation, isInserted };
  if (isInserted) await messages.conversations.remove(conversation.id);
  if (isKnown || isTaken) return { known: owner, isTaken };
  // The claim belongs to a process that died before its message was part of the ticket, or that is about to add it.
  // This process uses the id of that message, so that it is added once, whichever process is first.
  return storeUnseen(deps, { ...conversation, id: owner.conversationId }, parts);
}

/**
 * Claims an external id for a message. Returns the message that has it, and whether that is part of its ticket: another
 * message keeps it if it is, or if it belongs to the same ticket or to another mail.
 */
function claimExternalId(
  { messages: { externalMessageIds }, tickets, runtime }: UnseenDeps,
  externalId: string,
  { id: conversationId, ticketId }: ConversationState,
  mail: MailIdentity | undefined,
): Promise<{ owner: MessageReference; isKnown: boolean; isTaken: boolean }> {
  const own = { ticketId, conversationId };
  return retryOnConflict(runtime, 'The message is being changed too often.', async () => {
    const { mail: claimedFor, ...claimed } = await externalMessageIds.claim(externalId, { ...own, mail });
    if (claimed.conversationId === conversationId) return { owner: own, isKnown: false, isTaken: false };
    const isTaken = mail !== undefined && isSameMail({ ...claimed, mail: claimedFor }, mail, ticketId) === false;
    const isKnown = !isTaken && (await isPartOfTicket({ tickets }, claimed));
    if (isTaken || isKnown || claimed.ticketId === ticketId) return { owner: claimed, isKnown, isTaken };
    const isReplaced = await externalMessageIds.replace(externalId, claimed, { ...own, mail });
    return isReplaced ? { owner: own, isKnown: false, isTaken: false } : conflict;
  });
}

/**
 * Inserts a message. A taken id belongs to a repeated request, or to a process that died: then the message that was
 * stored first applies, because it may be sent already. It counts as unseen from now on, so that the sweeper does not
 * remove it.
 */
function insertUnseen(
  { messages, runtime }: UnseenDeps,
  proposed: ConversationState,
  mail: MailDocument | null,
): Promise<{ conversation: ConversationState; isInserted: boolean }> {
  const { conversations } = messages;
  return retryOnConflict(runtime, 'The message is being changed too often.', async () => {
    const isInserted = await conversations.insert(proposed, mail);
    if (isInserted) return { conversation: proposed, isInserted };
    const isKept = await conversations.setUnseen(proposed.id);
    const stored = isKept ? await conversations.find(proposed.id) : undefined;
    // If there is none, the sweeper has removed it between the operations.
    return stored ? { conversation: stored.conversation, isInserted } : conflict;
  });
}

/** Removes a message that no ticket has, and frees its external id. */
export async function discard(
  { conversations, externalMessageIds }: UnseenDeps['messages'],
  id: number,
): Promise<void> {
  await externalMessageIds.freeMessage(id);
  await conversations.remove(id);
}

/** Removes the messages that were stored for a ticket that does not exist, and frees their external ids. */
export async function discardMessages(
  { messages: { conversations, externalMessageIds } }: Pick<UnseenDeps, 'messages'>,
  ticketId: number,
): Promise<void> {
  await externalMessageIds.free(ticketId);
  await conversations.removeByTicket(ticketId);
}
