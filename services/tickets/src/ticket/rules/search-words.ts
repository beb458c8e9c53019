import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { TicketFieldName, TicketState } from './fields.ts';

/**
 * The number of the rules by which this version makes the search words of tickets: a higher one makes those of all tickets
 * again.
 */
export const wordsRules = 1;

/** The fields of a ticket that the full text search covers, whatever its first message is. */
const searched = [
  ...(['externalTicketId', 'callerNumber', 'customerId', 'contractId', 'from', 'fromName', 'summary'] as const),
];

const searchedOfMessage = ['direction', 'from', 'fromName', 'to', 'cc', 'bcc', 'subject', 'bodyPlain'] as const;

const isSearched: ReadonlySet<TicketFieldName> = new Set([...searched, ...searchedOfMessage]);

/** The fields of a message that the full text search covers. */
export type SearchedMessage = Pick<TicketState, (typeof searchedOfMessage)[number]>;

/** The recipients of a message by which it is found. */
const maxRecipients = 50;

/**
 * The texts of whose words the search words of a message are made. The sender of an outgoing message, and the recipients
 * of an incoming one, are this system. The longest text is last, so that the words of the others always count.
 */
export function messageTexts({ direction, subject, bodyPlain, ...people }: SearchedMessage): (string | null)[] {
  const { from, fromName, to, cc, bcc } = people;
  const sender = direction === Direction.IN ? [from, fromName] : [];
  const recipients = direction === Direction.OUT ? [...to, ...cc, ...bcc].slice(0, maxRecipients) : [];
  return [subject, ...sender, ...recipients, bodyPlain];
}

/** The texts of whose words the search words of a ticket are made. */
export function searchedTexts(ticket: TicketState): (string | number | null)[] {
  return [ticket.id, ...searched.map((name) => ticket[name]), ...messageTexts(ticket)];
}

/** Whether a change of these fields changes the search words. */
export function areSearched(changed: readonly TicketFieldName[]): boolean {
  return changed.some((name) => isSearched.has(name));
}

/** The fields with the words of messages. */
export type MessageWordsField = 'messageWords' | 'noteWords';

/** The bytes for which a field is charged. */
export type WordBytes = Record<MessageWordsField, number>;

export const noWords: Readonly<WordBytes> = { messageWords: 0, noteWords: 0 };

/**
 * How many bytes the words of its messages, and of its notes, may have in a ticket: those of the first ones, about 10,000
 * and 5,000 words. With all its other fields its document then has at most 16 MiB.
 */
const maxWordBytes: Readonly<WordBytes> = { messageWords: 200_000, noteWords: 100_000 };

/** The bytes of a word in a list besides its text. */
const bytesPerWord = 12;
/** A message is charged for at least so much, and for a share of its text, so that the words of a ticket can be made again. */
const leastCharge = 200;
const maxCharge = 20_000;
const charsPerByte = 25;

/** The search words of a message, the field that has them, and the bytes for which it is charged. */
export interface MessageWords {
  field: MessageWordsField;
  words: readonly string[];
  bytes: number;
}

/** Charges for the words of a message, or a private note. */
export function chargedWords(
  { bodyPlain, private: isNote = false }: Pick<SearchedMessage, 'bodyPlain'> & { private?: boolean },
  words: readonly string[],
): MessageWords {
  const bytes = words.reduce((sum, word) => sum + wordBytes(word), 0);
  const reading = Math.min(maxCharge, Math.ceil((bodyPlain?.length ?? 0) / charsPerByte));
  return { field: isNote ? 'noteWords' : 'messageWords', words, bytes: Math.max(bytes, reading, leastCharge) };
}

const wordBytes = (word: string) => Buffer.byteLength(word) + bytesPerWord;

/** The fields that have room for words. */
export function fieldsWithRoom(used: Readonly<WordBytes>): MessageWordsField[] {
  return (['messageWords', 'noteWords'] as const).filter((field) => used[field] < maxWordBytes[field]);
}

/** Returns the first words of a message: as many as its field has room for. */
export function wordsWithRoom(used: Readonly<WordBytes>, { field, words }: MessageWords): string[] {
  let left = maxWordBytes[field] - used[field];
  return words.filter((word) => {
    left -= wordBytes(word);
    return left >= 0;
  });
}
