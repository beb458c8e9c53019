import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { wordSequence } from '@ticketing/text/words.ts';

/** The text of a customer: the subject, and the body as plain text. */
export interface TicketText {
  subject: string | null;
  body: string | null;
}

/** Returns the text of a ticket that is analysed, and learned from. */
export function ticketText({
  subject,
  bodyClean,
  bodyPlain,
}: Pick<Ticket, 'subject' | 'bodyClean' | 'bodyPlain'>): TicketText {
  return { subject: subject ?? null, body: bodyClean ?? bodyPlain ?? null };
}

/** The most characters of a subject that are read. */
export const maxSubjectChars = 1000;
/** The most characters of a body that are read: the time of an analysis has a limit, whatever a customer wrote. */
export const maxBodyChars = 20_000;

/** The part of a text that is read. */
export interface ReadText {
  subject: string;
  body: string;
  /** The folded words of both, with a space before and after each. */
  words: string;
}

/** Reads the part of a text that is analysed. No character is cut in two, and a NUL separates words. */
export function readText(text: TicketText): ReadText {
  const subject = cutText(text.subject, maxSubjectChars);
  const body = cutText(text.body, maxBodyChars);
  const both = `${subject}\n${body}`;
  // Some characters become many when they are folded.
  const folded = wordSequence(both, both.length).slice(0, maxSubjectChars + maxBodyChars);
  return { subject, body, words: folded.slice(0, folded.lastIndexOf(' ') + 1) };
}

function cutText(text: string | null, maxChars: number): string {
  return (text ?? '').slice(0, maxChars).replaceAll('\0', ' ').toWellFormed();
}
