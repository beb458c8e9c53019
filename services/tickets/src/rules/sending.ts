import { NotSentReason } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { isEmailAddress } from './mail-headers.ts';

/** The recipients of a message. Absent lists are empty. */
type Addressed = Partial<Record<'to' | 'cc' | 'bcc', readonly string[]>>;

/** The fields of a ticket that say where its customer reads an answer. */
interface AnsweredTicket {
  channel: Channel;
  latestMessage?: { isMail?: boolean } | null;
}

/** Whether the customer reads an answer in the chat: the request names no recipient, and no mail is answered. */
export function answersChat({ channel, latestMessage }: AnsweredTicket, isNamed: boolean): boolean {
  return channel === Channel.CHAT && !isNamed && !latestMessage?.isMail;
}

/**
 * Says why a message to the customer is not sent as an e-mail; undefined if it is. It is sent on every channel, to those
 * of its recipients that have an e-mail address; `answersChat` excepted. `isNamed`: whether the request names recipients.
 *
 * Source: docs/reference/api.md, Outgoing mail.
 */
export function findReasonNotSent(
  ticket: AnsweredTicket,
  { to = [], cc = [], bcc = [] }: Addressed,
  { isNamed }: { isNamed: boolean },
): NotSentReason | undefined {
  if (answersChat(ticket, isNamed)) return NotSentReason.CHANNEL_WITHOUT_MAIL;
  if ([...to, ...cc, ...bcc].some(isEmailAddress)) return undefined;
  return ticket.channel === Channel.CHAT ? NotSentReason.CHANNEL_WITHOUT_MAIL : NotSentReason.NO_RECIPIENT;
}

/**
 * Whether a message of a ticket is a mail, which has an e-mail template around its text: one that is sent, or is to be, and
 * every other outgoing one of channel email.
 */
export function isMail(
  channel: Channel,
  message: { direction: Direction; private?: boolean },
  { isSent }: { isSent: boolean },
): boolean {
  return message.direction === Direction.OUT && !message.private && (channel === Channel.EMAIL || isSent);
}
