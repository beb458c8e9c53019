import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { isEmailAddress } from '../../rules/mail-headers.ts';

/** The recipients of a reply. */
export interface Recipients {
  to: string[];
  cc: string[];
  bcc: string[];
}

/** The sender and the recipients of a message. */
export interface AddressedMessage {
  direction: Direction;
  from: string | null;
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
}

/** The fields of a ticket that the recommendation depends on: those of its first message, and its latest message. */
export interface AddressedTicket extends AddressedMessage {
  channel: Channel;
  latestMessage?: AddressedMessage | null;
  /** The address of the customer, as it was last read. */
  customerEmail?: string | null;
}

/** On these channels a customer has written or called without an address that a reply could be sent to. */
const channelsWithoutAddress: readonly Channel[] = [Channel.PHONE, Channel.LETTER, Channel.PORTAL, Channel.WALK_IN];

/** Without a limit, a stranger could make one click send our mails to any number of addresses. */
const maxCopies = 50;

/**
 * Recommends who should get a reply to the latest message: if it is incoming, its sender and those who got copies, unless
 * they are more than 50, else its recipients again. A sender without an e-mail address on a channel without addresses gets the reply at the e-mail
 * address of the customer. An address that `isOurs` is left out, because this system refuses its own mails. System tickets
 * have no reply, so the result is null.
 *
 * Source: docs/reference/api.md, Ticket fields.
 */
export function replyRecipients(
  ticket: AddressedTicket,
  isOurs: (address: string) => boolean = () => false,
): Recipients | null {
  if (ticket.channel === Channel.SYSTEM) return null;
  const { direction, from, to, cc, bcc } = ticket.latestMessage ?? ticket;
  const others = (addresses: readonly string[]) => addresses.filter((address) => !isOurs(address));
  if (direction !== Direction.IN) return { to: others(to), cc: others(cc), bcc: others(bcc) };
  const sender = findSender(ticket, from);
  return { to: sender === null ? [] : others([sender]), cc: cc.length > maxCopies ? [] : others(cc), bcc: [] };
}

function findSender({ channel, customerEmail: email = null }: AddressedTicket, from: string | null): string | null {
  if (email === null || !isEmailAddress(email) || !channelsWithoutAddress.includes(channel)) return from;
  return from !== null && isEmailAddress(from) ? from : email;
}
