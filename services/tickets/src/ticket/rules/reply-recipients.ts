import { Channel, Direction, SpamStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { foldedAddress, isEmailAddress, isNoReply } from '../../rules/mail-headers.ts';

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
  /** The addresses of its `Reply-To`. */
  replyTo?: readonly string[];
  /** Whether it was received as a mail, or is a mail that answers one. */
  isMail?: boolean;
}

/** The fields of a ticket that the recommendation depends on: those of its first message, and its latest message. */
export interface AddressedTicket extends AddressedMessage {
  channel: Channel;
  latestMessage?: AddressedMessage | null;
  /** Shows whether a program has sent the first message. */
  spamStatus?: SpamStatus | null;
  /** The address of the customer, as it was last read. */
  customerEmail?: string | null;
}

/** On these channels a customer has written or called without an address that a reply could be sent to. */
const channelsWithoutAddress: readonly Channel[] = [Channel.PHONE, Channel.LETTER, Channel.PORTAL, Channel.WALK_IN];

/** Without a limit, a stranger could make one click send our mails to any number of addresses. */
const maxAddresses = 50;

const nobody: Recipients = { to: [], cc: [], bcc: [] };

/**
 * Recommends who should get a reply to the latest message: if it is incoming, its sender, or those whom its `Reply-To`
 * names, with copies to its other recipients; else its recipients again. Lists of more than 50 addresses of a received
 * message are left out. A sender without an e-mail address on a channel without addresses gets the reply at the e-mail
 * address of the customer. An address that `isOurs` is left out, because this system refuses its own mails, and so is one
 * that takes no reply. A message of a program recommends nobody. System tickets have no reply, so the result is null.
 *
 * Source: docs/reference/api.md, Ticket fields.
 */
export function replyRecipients(
  ticket: AddressedTicket,
  isOurs: (address: string) => boolean = () => false,
): Recipients | null {
  if (ticket.channel === Channel.SYSTEM) return null;
  const { direction, from, to, cc, bcc, replyTo = [] } = ticket.latestMessage ?? ticket;
  const others = (addresses: readonly string[]) => addresses.filter((address) => !isOurs(address));
  if (direction !== Direction.IN) return { to: others(to), cc: others(cc), bcc: others(bcc) };
  if (!ticket.latestMessage && ticket.spamStatus === SpamStatus.AUTO_PROGRAMMATIC) return nobody;
  const named = replyAddresses(replyTo, isOurs);
  const sender = findSender(ticket, from);
  const authors = named.length > 0 || sender === null || isNoReply(sender) ? named : others([sender]);
  const answered = new Set([...authors, ...(sender === null ? [] : [sender])].map(foldedAddress));
  // A customer may answer by mail on every channel.
  const isMail = ticket.channel === Channel.EMAIL || ticket.latestMessage?.isMail;
  const copies = unique(isMail ? [...to, ...cc] : cc).filter((address) => !answered.has(foldedAddress(address)));
  const reachable = others(copies).filter((one) => !isNoReply(one) && (!isMail || isEmailAddress(one)));
  return { to: authors, cc: copies.length > maxAddresses ? [] : reachable, bcc: [] };
}

/** The addresses of a `Reply-To` to which a reply can go. */
function replyAddresses(replyTo: readonly string[], isOurs: (address: string) => boolean): string[] {
  if (replyTo.length > maxAddresses) return [];
  return unique(replyTo).filter((one) => isEmailAddress(one) && !isOurs(one) && !isNoReply(one));
}

/**
 * The address of the person who wrote a message: its sender, or the one whom `Reply-To` names if the sender is one of
 * ours or takes no reply, as mails of forms have it.
 */
export function authorAddress(
  { from, replyTo = [] }: Pick<AddressedMessage, 'from' | 'replyTo'>,
  isOurs: (address: string) => boolean,
): string | null {
  if (from !== null && isEmailAddress(from) && !isOurs(from) && !isNoReply(from)) return from;
  return replyAddresses(replyTo, isOurs)[0] ?? from;
}

/** Addresses, each once without regard to case. */
function unique(addresses: readonly string[]): string[] {
  return [...new Map(addresses.map((address) => [foldedAddress(address), address])).values()];
}

function findSender({ channel, customerEmail: email = null }: AddressedTicket, from: string | null): string | null {
  if (email === null || !isEmailAddress(email) || !channelsWithoutAddress.includes(channel)) return from;
  return from !== null && isEmailAddress(from) ? from : email;
}
