import type { Ledger } from './ledger.ts';
import type { MessageLedger, SentMessage } from './message-ledger.ts';
import type { ReadMessage } from './verdict.ts';

/** A message, as the API shows it in the list of its ticket. */
export interface ShownMessage {
  id: number;
  ticketId: number;
  marker: string | undefined;
  direction: string;
  isDraft: boolean;
  deliveryStatus: string;
  externalId: string | undefined;
  files: number;
}

/** How many messages of each direction a ticket has. */
export interface MessageCounts {
  in: number;
  out: number;
  internal: number;
}

/** A mail that the mail server of the run has accepted. */
export interface LeftMail {
  messageId: string;
  marker: string | undefined;
}

/** The messages, counts, mails and events that were read at the end. */
export interface ObservedMessages {
  /** The messages of all tickets that are shown, by ticket. */
  shown: ReadonlyMap<number, readonly ShownMessage[]>;
  /** The counts in the documents of the tickets, and in their rows. */
  counts: ReadonlyMap<number, MessageCounts>;
  countsOfRows: ReadonlyMap<number, MessageCounts>;
  /** The first messages of tickets, which the creation of the ticket announces. */
  openingIds: ReadonlySet<number>;
  left: readonly LeftMail[];
  events: readonly ReadMessage[];
}

/** The result about messages: counts, and a sentence for each thing that is wrong. */
export interface MessageVerdict {
  acknowledged: number;
  listed: number;
  /** The messages that were sent as mails, and how often a mail came again. */
  sent: number;
  sentAgain: number;
  lost: string[];
  /** Messages that exist twice, or although the response said that they do not. */
  unexpected: string[];
  /** Mails that have not left, left with several ids, or should not have left. */
  wrongMails: string[];
  countsThatDiffer: string[];
  /** Messages without their event, and events without their message. */
  wrongEvents: string[];
}

/** Compares the messages that were acknowledged with those that were read. Source: docs/reference/guarantees.md, Messages. */
export function judgeMessages(ledger: Ledger, observed: ObservedMessages): MessageVerdict {
  const all = [...observed.shown.values()].flat();
  const shownAs = Map.groupBy(all, ({ marker }) => marker);
  const sent = [...ledger.messages.messages.values()];
  const judged = sent.map((message) => judgeMessage(message, shownAs.get(message.marker) ?? [], ledger, observed));
  const mails = all.filter(({ deliveryStatus }) => deliveryStatus !== 'none');
  return {
    acknowledged: ledger.messages.acknowledged,
    listed: all.length,
    sent: mails.length,
    sentAgain: observed.left.length - new Set(observed.left.map(({ messageId }) => messageId)).size,
    lost: judged.flatMap(({ lost }) => lost),
    unexpected: [
      ...judged.flatMap(({ unexpected }) => unexpected),
      ...all
        .filter(({ marker }) => !marker || !ledger.messages.messages.has(marker))
        .map((one) => `${toName(one)} was not sent`),
    ],
    wrongMails: [
      ...(mails.length === 0 ? ['no message was sent as a mail'] : []),
      ...mailsNotLeft(mails, observed.left),
      ...mailsTooMany(ledger.messages, all, observed.left, ledger),
    ],
    countsThatDiffer: differingCounts(observed),
    wrongEvents: wrongEvents(ledger.messages, observed),
  };
}

/** A sentence for each thing that is wrong. */
export function messageFindings(verdict: MessageVerdict): string[] {
  const { lost, unexpected, wrongMails, countsThatDiffer, wrongEvents: events } = verdict;
  return [...lost, ...unexpected, ...wrongMails, ...countsThatDiffer, ...events];
}

function toName({ marker, id, ticketId }: { marker?: string | undefined; id: number; ticketId: number }): string {
  return `message ${id} of ticket ${ticketId} (${marker ?? 'without a marker'})`;
}

interface JudgedMessage {
  lost: string[];
  unexpected: string[];
}

/** Compares one message with those that are listed with its marker. */
function judgeMessage(
  message: SentMessage,
  [shown, ...more]: readonly ShownMessage[],
  ledger: Ledger,
  observed: ObservedMessages,
): JudgedMessage {
  const { marker, kind, outcome, ticketId } = message;
  const what = `${kind} ${marker} (${outcome})`;
  if (more.length > 0) return { lost: [], unexpected: [`${what} is listed ${more.length + 1} times`] };
  if (!shown) {
    if (outcome !== 'acknowledged' || message.deletion === 'acknowledged' || message.deletion === 'unknown')
      return { lost: [], unexpected: [] };
    const isDeleted = ticketId !== undefined && !observed.shown.has(ticketId) && ledger.deletions.has(ticketId);
    return { lost: isDeleted ? [] : [`${what} of ticket ${ticketId} is not listed`], unexpected: [] };
  }
  const unexpected: string[] = [];
  if (outcome === 'refused') unexpected.push(`${what} is listed`);
  if (message.deletion === 'acknowledged') unexpected.push(`${what} is listed, although it was deleted`);
  if (message.conversationId !== undefined && shown.id !== message.conversationId)
    unexpected.push(`${what} is listed with the id ${shown.id}, not ${message.conversationId}`);
  if (message.files !== undefined && outcome === 'acknowledged' && shown.files !== message.files)
    unexpected.push(`${what} is listed with ${shown.files} files, not ${message.files}`);
  const isPublic = kind !== 'draft' || message.publishing === 'acknowledged';
  if (shown.isDraft && isPublic) return { lost: [`${what} is listed as a draft`], unexpected };
  const mayBePublic = isPublic || message.publishing === 'unknown';
  if (!shown.isDraft && !mayBePublic) unexpected.push(`${what} is published, although nobody asked for it`);
  return { lost: [], unexpected };
}

function mailsNotLeft(mails: readonly ShownMessage[], left: readonly LeftMail[]): string[] {
  const ids = new Set(left.map(({ messageId }) => messageId));
  return mails.flatMap((one) => {
    if (one.deliveryStatus !== 'sent') return [`${toName(one)} is ${one.deliveryStatus}`];
    return ids.has(one.externalId ?? '') ? [] : [`${toName(one)} is sent, but has not arrived as ${one.externalId}`];
  });
}

/** The mails that left with another id than their message, or without one. A deleted ticket shows no message any more. */
function mailsTooMany(
  { messages }: MessageLedger,
  shown: readonly ShownMessage[],
  left: readonly LeftMail[],
  { deletions }: Ledger,
): string[] {
  const sentAs = new Map(shown.flatMap((one) => (one.deliveryStatus === 'none' ? [] : [[one.externalId, one]])));
  const idsOf = Map.groupBy(left, ({ marker }) => marker);
  const wrong: string[] = [];
  for (const [marker, mails] of idsOf) {
    const ids = [...new Set(mails.map(({ messageId }) => messageId))];
    const message = marker === undefined ? undefined : messages.get(marker);
    if (!message) wrong.push(`a mail with the id ${ids[0]} was sent by nobody`);
    else if (ids.length > 1) wrong.push(`${message.kind} ${marker} has left with ${ids.length} ids: ${ids.join(', ')}`);
    else if (sentAs.get(ids[0])?.marker !== marker) {
      const isDeleted = message.ticketId !== undefined && deletions.has(message.ticketId);
      const maySend = ['opening', 'reply'].includes(message.kind) || message.publishing !== undefined;
      if (!isDeleted || !maySend)
        wrong.push(`${message.kind} ${marker} (${message.outcome}) has left as ${ids[0]}, but is not listed as sent`);
    }
  }
  return wrong;
}

function differingCounts({ shown, counts, countsOfRows }: ObservedMessages): string[] {
  return [...shown].flatMap(([ticketId, messages]) => {
    const listed = (direction: string) => messages.filter((one) => !one.isDraft && one.direction === direction).length;
    const expected = { in: listed('in'), out: listed('out'), internal: listed('internal') };
    return [
      { where: 'ticket', found: counts.get(ticketId) },
      { where: 'row of ticket', found: countsOfRows.get(ticketId) },
    ].flatMap(({ where, found }) =>
      found && found.in === expected.in && found.out === expected.out && found.internal === expected.internal
        ? []
        : [`the ${where} ${ticketId} counts ${describe(found)}, but lists ${describe(expected)}`],
    );
  });
}

function describe(counts: MessageCounts | undefined): string {
  return counts ? `${counts.in} in, ${counts.out} out, ${counts.internal} internal` : 'nothing';
}

const announcing = ['conversation.created', 'conversation.published'];

/** Each message that is no draft has one event, and each such event a message, unless that was deleted. */
function wrongEvents({ messages }: MessageLedger, { shown, openingIds, events }: ObservedMessages): string[] {
  const all = [...shown.values()].flat();
  const wrong: string[] = [];
  const announced = new Map<string, Set<number>>();
  for (const { event, version } of events) {
    if (event?.conversationId === undefined || !announcing.includes(event.type)) continue;
    const key = `${event.ticketId} ${event.conversationId}`;
    announced.set(key, (announced.get(key) ?? new Set()).add(version));
  }
  const toKey = ({ ticketId, id }: ShownMessage) => `${ticketId} ${id}`;
  for (const one of all.filter(({ isDraft, id }) => !isDraft && !openingIds.has(id))) {
    const versions = announced.get(toKey(one))?.size ?? 0;
    if (versions !== 1) wrong.push(`${toName(one)} has ${versions} events`);
  }
  const keys = new Set(all.filter(({ isDraft }) => !isDraft).map(toKey));
  const deleted = new Set(
    [...messages.values()].filter(({ deletion }) => deletion !== undefined).map(({ conversationId }) => conversationId),
  );
  for (const key of announced.keys()) {
    const [ticketId, id] = key.split(' ').map(Number);
    if (ticketId === undefined || !shown.has(ticketId) || keys.has(key) || deleted.has(id)) continue;
    wrong.push(`an event announces message ${id} of ticket ${ticketId}, which is not listed`);
  }
  return wrong;
}
