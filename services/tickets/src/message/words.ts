import { setImmediate } from 'node:timers/promises';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import type { EventActor } from '../rules/event-header.ts';
import type { TextWork } from '../text/work.ts';
import {
  chargedWords,
  fieldsWithRoom,
  type MessageWords,
  messageTexts,
  type SearchedMessage,
  searchedTexts,
  wordsWithRoom,
} from '../ticket/rules/search-words.ts';
import type { TicketWords } from '../ticket/store/document.ts';
import type { OutdatedTicket, TicketStore } from '../ticket/store/store.ts';
import type { ConversationStore } from './store.ts';

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

/** The search words of a message. Errors: sandbox_busy, sandbox_crashed, for a long text. */
export async function messageWords(
  textWork: Pick<TextWork, 'words'>,
  message: SearchedMessage & { private: boolean },
  actor: EventActor,
): Promise<MessageWords> {
  return chargedWords(message, await textWork.words(messageTexts(message), actor));
}

/** A ticket that is changed all the time waits for the scheduler. */
const maxAttempts = 3;

/**
 * Makes the words of a ticket again if they are outdated. It happens after a write that cannot be taken back, so an error
 * is logged only: `refreshOutdated` tries again.
 */
export async function refreshWords(deps: MessageWordsDeps, ticketId: number, actor: EventActor): Promise<void> {
  try {
    for (let nth = 1; nth <= maxAttempts; nth++) {
      const found = await deps.tickets.findOutdated(ticketId);
      if (!found || (await deps.tickets.setWords(found, await makeWords(deps, found, actor)))) return;
    }
  } catch (error) {
    deps.log.warn({ err: error, ticketId }, 'the search words of a ticket are outdated');
  }
}

const batch = 100;

/**
 * Makes the words of the next tickets whose words are outdated: those of earlier versions, and those whose process died
 * after it had changed a message. Returns the id from which the next run goes on; 0 at the end, so that one that fails is
 * tried again when the others are done. Several processes share the work: each begins anywhere among the next tickets, and
 * leaves out those that another one has done.
 */
export async function refreshOutdated(deps: MessageWordsDeps, after: number): Promise<number> {
  const actor = serviceCaller('tickets');
  const ids = await deps.tickets.outdatedIds(after, batch);
  const first = Math.floor(deps.runtime.random() * ids.length);
  for (const id of [...ids.slice(first), ...ids.slice(0, first)]) await refreshWords(deps, id, actor);
  return ids.length < batch ? 0 : (ids.at(-1) ?? 0);
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
  const words = { messageWords: new Set<string>(), noteWords: new Set<string>() };
  const wordBytes = { messageWords: 0, noteWords: 0 };
  for (let at = 0; at < conversationIds.length; at += messagesAtOnce) {
    const [field, ...others] = fieldsWithRoom(wordBytes);
    if (!field) break;
    const isNote = others.length > 0 ? undefined : field === 'noteWords';
    for (const message of await conversations.findSearched(conversationIds.slice(at, at + messagesAtOnce), isNote)) {
      const found = await messageWords(textWork, message, actor);
      for (const word of wordsWithRoom(wordBytes, found)) words[found.field].add(word);
      wordBytes[found.field] += found.bytes;
      await setImmediate();
    }
  }
  return {
    words: await textWork.words(searchedTexts(ticket), actor),
    messageWords: [...words.messageWords],
    noteWords: [...words.noteWords],
    wordBytes,
  };
}
