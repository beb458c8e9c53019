import { setImmediate } from 'node:timers/promises';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import type { EventActor } from '../rules/event-header.ts';
import type { TextWork } from '../text/work.ts';
import {
  fieldsWithRoom,
  messageTexts,
  type SearchedMessage,
  searchedTexts,
  type TicketWords,
  wordsField,
  wordsWithRoom,
} from '../ticket/store/document.ts';
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
export function messageWords(
  textWork: Pick<TextWork, 'words'>,
  message: SearchedMessage,
  actor: EventActor,
): Promise<string[]> {
  return textWork.words(messageTexts(message), actor);
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
/** The scheduler pauses after so many, so that it can stop. */
const maxTickets = 1000;

/**
 * Makes the words of tickets whose words are outdated: those of earlier versions, and those whose process died after it had
 * changed a message. One that fails is tried again later, and does not stop the others. Several processes share the work:
 * each begins anywhere among the next tickets, and leaves out those that another one has done.
 */
export async function refreshOutdated(deps: MessageWordsDeps): Promise<void> {
  const actor = serviceCaller('tickets');
  let after = 0;
  for (let done = 0; done < maxTickets; done += batch) {
    const ids = await deps.tickets.outdatedIds(after, batch);
    const first = Math.floor(deps.runtime.random() * ids.length);
    for (const id of [...ids.slice(first), ...ids.slice(0, first)]) await refreshWords(deps, id, actor);
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
  const words = { messageWords: new Set<string>(), noteWords: new Set<string>() };
  const wordCounts = { messageWords: 0, noteWords: 0 };
  for (let at = 0; at < conversationIds.length; at += messagesAtOnce) {
    const [field, ...others] = fieldsWithRoom(wordCounts);
    if (!field) break;
    const isNote = others.length > 0 ? undefined : field === 'noteWords';
    for (const message of await conversations.findSearched(conversationIds.slice(at, at + messagesAtOnce), isNote)) {
      const field = wordsField({ isNote: message.private });
      const added = wordsWithRoom(field, wordCounts, await messageWords(textWork, message, actor));
      for (const word of added) words[field].add(word);
      wordCounts[field] += added.length;
      await setImmediate();
    }
  }
  return {
    words: await textWork.words(searchedTexts(ticket), actor),
    messageWords: [...words.messageWords],
    noteWords: [...words.noteWords],
    wordCounts,
  };
}
