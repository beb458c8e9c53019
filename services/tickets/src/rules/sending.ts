import { DeliveryStatus, NotSentReason } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { isEmailAddress } from './mail-headers.ts';

interface Recipients {
  to?: readonly string[];
  cc?: readonly string[];
  bcc?: readonly string[];
}

/**
 * Says why a message to the customer is not sent as an e-mail; undefined if it is. It is sent on every channel, to those
 * of its recipients that have an e-mail address; an answer in a chat only to recipients that the request names.
 *
 * Source: docs/reference/api.md, Outgoing mail.
 */
export function findReasonNotSent(
  channel: Channel,
  { to = [], cc = [], bcc = [] }: Recipients,
  { isNamed }: { isNamed: boolean },
): NotSentReason | undefined {
  const isChat = channel === Channel.CHAT;
  if (isChat && !isNamed) return NotSentReason.CHANNEL_WITHOUT_MAIL;
  if ([...to, ...cc, ...bcc].some(isEmailAddress)) return undefined;
  return isChat ? NotSentReason.CHANNEL_WITHOUT_MAIL : NotSentReason.NO_RECIPIENT;
}

/**
 * Whether a message of a ticket is a mail, which has an e-mail template around its text: one that is sent, a draft that
 * is to be, or an outgoing one of channel email that left elsewhere.
 */
export function isMail(
  channel: Channel,
  message: Recipients & { direction: Direction; private?: boolean; deliveryStatus?: DeliveryStatus },
  { isToBeSent }: { isToBeSent: boolean },
): boolean {
  const { direction } = message;
  if (direction !== Direction.OUT || message.private) return false;
  if (channel === Channel.EMAIL || message.deliveryStatus === DeliveryStatus.QUEUED) return true;
  return isToBeSent && findReasonNotSent(channel, message, { isNamed: true }) === undefined;
}
