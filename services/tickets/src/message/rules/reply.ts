import { cutChars } from '@ticketing/runtime/cut-text.ts';
import { isEmailAddress } from '../../rules/mail-headers.ts';
import type { TicketState } from '../../ticket/rules/fields.ts';
import { type AddressedMessage, type Recipients, replyRecipients } from '../../ticket/rules/reply-recipients.ts';

/** The recipients of a request. An empty list counts as absent. */
type GivenRecipients = Pick<AddressedMessage, 'to' | 'cc' | 'bcc'>;

/** Whether a message has no recipient at all. */
export function isToNobody({ to, cc, bcc }: GivenRecipients): boolean {
  return to.length + cc.length + bcc.length === 0;
}

/** The lists of a request in which it names somebody to whom a mail can be sent. */
export function findNamedRecipients(given: Partial<GivenRecipients>): string[] {
  return Object.entries(given).flatMap(([name, addresses]) => (addresses.some(isEmailAddress) ? [name] : []));
}

/**
 * The recipients of a reply. If none are given, the recommended ones; if only `to` is missing, the recommended `to`.
 *
 * Source: docs/reference/api.md, Conversations.
 */
export function chooseRecipients(
  ticket: TicketState,
  given: GivenRecipients,
  isOurs: (address: string) => boolean,
): Recipients {
  const recommended = replyRecipients(ticket, isOurs) ?? { to: [], cc: [], bcc: [] };
  const { to, cc, bcc } = given;
  if (isToNobody(given)) return recommended;
  return { to: to.length === 0 ? recommended.to : [...to], cc: [...cc], bcc: [...bcc] };
}

/** The signs of a reply that mail programs write before its subject, in many languages, also several of them. */
const replyPrefixes =
  /^\s*(?:(?:re|aw|antw|antwort|sv|svar|vs|vast|res|r|rif|odp|odg|ynt|cevap|vá|rép|réf|réponse|atb|ats|απ|σχετ|отв|ответ|відп|отг|回复|答复|回覆|返信)(?: ?\[\d{1,3}\]| ?\(\d{1,3}\)|\^\d{1,3})? ?[:：]\s*)+/i;

/** The subject of a reply without one. */
export function replySubject({ subject }: Pick<TicketState, 'subject'>): string | null {
  return subject === null || subject === '' ? null : toReplySubject(subject);
}

/** A subject with at most one sign of a reply. Source: RFC 5322, section 3.6.5. */
export function withOneReplyPrefix(subject: string): string {
  return replyPrefixes.test(subject) ? toReplySubject(subject) : subject;
}

function toReplySubject(subject: string): string {
  return cutChars(`Re: ${subject.replace(replyPrefixes, '')}`.trim(), 998);
}
