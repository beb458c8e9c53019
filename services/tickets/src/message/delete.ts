import type {
  DeleteConversationRequest,
  DeleteConversationResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { releaseFiles, removeFiles } from '@ticketing/files/attach-files.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { sweep } from '@ticketing/store/document/sweep.ts';
import { eventHeaderFor } from '../event-header.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import type { AddMessageDeps, MessageStores } from './add.ts';
import { findConversation, messageWasSent, requireNoteRight } from './checks.ts';
import type { UnseenMessageId } from './external-id-store.ts';
import { decideDeletedNote } from './rules/decision.ts';
import type { RefreshesWords } from './words.ts';

type DeleteConversationDeps = Pick<AddMessageDeps, 'messages' | 'tickets' | 'commit' | 'attachments' | 'runtime'> &
  RefreshesWords;

/**
 * Deletes a draft or a private note. A note counts among the messages of its ticket, so its deletion changes the ticket.
 *
 * Errors: ticket_not_found, conversation_not_found; message_was_sent; not_the_author. Source: docs/reference/api.md, Conversations.
 */
export async function deleteConversation(
  deps: DeleteConversationDeps,
  call: Call,
  request: DeleteConversationRequest,
): Promise<DeleteConversationResponse> {
  const { ticketId, conversationId } = request;
  const { conversations, externalMessageIds } = deps.messages;
  const { stored, isDraft } = await findConversation(
    { tickets: deps.tickets, conversations },
    { ticketId, conversationId },
  );
  if (!stored || !(isDraft || stored.conversation.private)) throw messageWasSent();
  if (!isDraft) requireNoteRight(call.caller, stored.conversation);
  // If this process dies after the next write, the message is found and removed later.
  await conversations.setUnseen(conversationId);
  const { attachments } = stored.conversation;
  await releaseFiles(deps.attachments, attachments);
  if (isDraft) {
    // It was published or deleted meanwhile.
    if (!(await deps.tickets.removeDraft(ticketId, conversationId))) return deleteConversation(deps, call, request);
  } else {
    await deps.commit({
      ticketId,
      decide({ ticket, conversationIds }) {
        if (!conversationIds.includes(conversationId)) throw notFound('Conversation');
        const header = eventHeaderFor(deps, call);
        return decideDeletedNote(ticket, stored.conversation, { now: secondsNow(deps.runtime), header });
      },
    });
    await deps.refreshWords(ticketId, call.caller);
  }
  await externalMessageIds.freeMessage(conversationId);
  await conversations.remove(conversationId);
  await removeFiles(deps.attachments, attachments);
  return { $typeName: 'ticketing.tickets.v1.DeleteConversationResponse', success: true };
}

export interface SweepDeps {
  tickets: Pick<TicketStore, 'findMessageIds'>;
  messages: MessageStores;
}

/** No request that adds a message takes this long. */
const unseenMs = 10 * 60_000;
const batch = 500;

/** Removes the messages that no ticket has, because the process that added or deleted them died, and their external ids. */
export async function sweepUnseenMessages({ tickets, messages: stores }: SweepDeps): Promise<void> {
  const { conversations, externalMessageIds } = stores;
  await sweep({
    batch,
    find: (limit) => conversations.unseenFor(unseenMs, limit),
    async settle(unseen) {
      const ids = await readMessageIds(tickets, unseen);
      const isSeen = ({ id, ticketId }: { id: number; ticketId: number }) => {
        const { messages, drafts } = ids.get(ticketId) ?? none;
        return messages.has(id) || drafts.has(id);
      };
      await conversations.setSeen(unseen.filter(isSeen));
      for (const one of unseen.filter((each) => !isSeen(each))) {
        if (await conversations.removeUnseen(one)) await externalMessageIds.freeMessage(one.id);
      }
    },
  });
}

/**
 * Frees the external ids that were claimed for messages which no ticket has got: of mails whose tickets were not created, and
 * of drafts that were not published.
 */
export async function sweepUnseenMessageIds({ tickets, messages: { externalMessageIds } }: SweepDeps): Promise<void> {
  await sweep({
    batch,
    find: (limit) => externalMessageIds.unseenFor(unseenMs, limit),
    async settle(unseen) {
      const ids = await readMessageIds(tickets, unseen);
      const isSeen = (one: UnseenMessageId) => ids.get(one.ticketId)?.messages.has(one.conversationId) ?? false;
      const seen = unseen.filter(isSeen).map(({ externalId }) => externalId);
      if (seen.length > 0) await externalMessageIds.setSeen(seen);
      for (const one of unseen.filter((each) => !isSeen(each))) await externalMessageIds.freeUnseen(one);
    },
  });
}

interface TicketIds {
  /** Its messages that are no drafts, the first one included. */
  messages: ReadonlySet<number>;
  drafts: ReadonlySet<number>;
}

const none: TicketIds = { messages: new Set(), drafts: new Set() };

/** How many tickets are read at once: each may have 10,000 messages. */
const ticketsAtOnce = 50;

async function readMessageIds(
  tickets: SweepDeps['tickets'],
  unseen: readonly { ticketId: number }[],
): Promise<ReadonlyMap<number, TicketIds>> {
  const ticketIds = [...new Set(unseen.map((one) => one.ticketId))];
  const found = new Map<number, TicketIds>();
  for (let at = 0; at < ticketIds.length; at += ticketsAtOnce) {
    for (const [id, read] of await tickets.findMessageIds(ticketIds.slice(at, at + ticketsAtOnce))) {
      const opening = read.openingMessageId === null ? [] : [read.openingMessageId];
      found.set(id, { messages: new Set([...opening, ...read.conversationIds]), drafts: new Set(read.draftIds) });
    }
  }
  return found;
}
