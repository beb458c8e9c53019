import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import type { EventActor } from '../rules/event-header.ts';
import type { TextWork } from '../text/work.ts';
import { addedWords, maxWordsOf, searchedTexts, type TicketWords, wordsField } from '../ticket/store/document.ts';
import type { OutdatedTicket, TicketStore } from '../ticket/store/store.ts';
import type { ConversationStore, SearchedMessage } from './store.ts';

export interface MessageWordsDeps {
  tickets: Pick<TicketStore, 'findOutdated' | 'outdatedIds' | 'setWords'>;
  conversations: Pick<ConversationStore, 'findSearched'>;
  textWork: Pick<TextWork, 'words'>;
  runtime: Pick<Runtime, 'random'>;
  log: Logger;
}

/** The dependency of a write that gives a message of a ticket another text. */
export interface RefreshesWords {
  /** `refreshWords` */
  refreshWords(ticketId: number, actor: EventActor): Promise<void>;
}

/**
 * The search words of a message: of its subject, its text, and the people it is from or to. The sender of an outgoing
 * message, and the recipient of an incoming one, are this system.
 *
 * Errors: sandbox_busy, sandbox_crashed, for a long text.
 */
export function messageWords(
  textWork: Pick<TextWork, 'words'>,
  { direction, from, fromName, to, cc, bcc, subject, bodyPlain }: SearchedMessage,
  actor: EventActor,
): Promise<string[]> {
  const people =
    direction === Direction.IN ? [from, fromName] : direction === Direction.OUT ? [...to, ...cc, ...bcc] : [];
  return textWork.words([subject, ...people, bodyPlain], actor);
}

/**
 * Makes the words of a ticket again if its messages have others now. It happens after a write that cannot be taken back,
 * so an error is logged only: `refreshOutdated` tries again.
 */
export async function refreshWords(deps: MessageWordsDeps, ticketId: number, actor: EventActor): Promise<void> {
  try {
    await retryOnConflict(deps.runtime, 'The ticket is being changed too often.', async () => {
      const found = await deps.tickets.findOutdated(ticketId);
      if (!found) return;
      return (await deps.tickets.setWords(found, await makeWords(deps, found, actor))) ? undefined : conflict;
    });
  } catch (error) {
    deps.log.warn({ err: error, ticketId }, 'the search words of a ticket are outdated');
  }
}

const batch = 100;

/**
 * Makes the words of all tickets whose words are outdated: those of earlier versions, and those whose process died after
 * it had changed a message. One that fails is tried again later, and does not stop the others.
 */
export async function refreshOutdated(deps: MessageWordsDeps): Promise<void> {
  const actor = serviceCaller('tickets');
  let after = 0;
  for (;;) {
    const ids = await deps.tickets.outdatedIds(after, batch);
    for (const id of ids) await refreshWords(deps, id, actor);
    if (ids.length < batch) return;
    after = ids.at(-1) ?? 0;
  }
}

/** How many messages are read at once: each may have 5 MiB. */
const messagesAtOnce = 10;

async function makeWords(
  { conversations, textWork }: MessageWordsDeps,
  { stored }: OutdatedTicket,
  actor: EventActor,
): Promise<TicketWords | undefined> {
  if (!stored) return undefined;
  const { ticket, conversationIds } = stored;
  const words: TicketWords = {
    words: await textWork.words(searchedTexts(ticket), actor),
    messageWords: [],
    noteWords: [],
  };
  const hasRoom = () =>
    words.messageWords.length < maxWordsOf.messageWords || words.noteWords.length < maxWordsOf.noteWords;
  // The words of the first message are those of the ticket.
  const ids = conversationIds.filter((id) => id !== ticket.openingMessageId);
  for (let at = 0; at < ids.length && hasRoom(); at += messagesAtOnce) {
    for (const message of await conversations.findSearched(ids.slice(at, at + messagesAtOnce))) {
      const field = wordsField({ isNote: message.private });
      words[field].push(...addedWords(field, words[field], await messageWords(textWork, message, actor)));
    }
  }
  return words;
}
