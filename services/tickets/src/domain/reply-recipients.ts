import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { isEmail } from './addresses.ts';

/** Who should get a reply. */
export interface Recipients {
  to: string[];
  cc: string[];
  bcc: string[];
}

/** The fields of a ticket that the recommendation depends on. */
export interface AddressedTicket {
  channel: Channel;
  direction: Direction;
  from: string | null;
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
}

/** What the recommendation depends on of the ticket's customer, as it was last read. */
export interface ReachableCustomer {
  email: string | null;
}

/** On these channels a customer has written or called without an address that a reply could be sent to. */
const channelsWithoutAddress: readonly Channel[] = [Channel.PHONE, Channel.LETTER, Channel.PORTAL, Channel.WALK_IN];

/**
 * Recommends who should get a reply: for an incoming ticket its sender and those who got copies, for any other ticket
 * its recipients again. A sender without an e-mail address on a channel without addresses gets the reply at the e-mail
 * address of the customer. System tickets have no reply, so the result is null.
 *
 * Source: docs/reference/api.md, Ticket fields.
 */
export function replyRecipients(ticket: AddressedTicket, customer?: ReachableCustomer): Recipients | null {
  if (ticket.channel === Channel.SYSTEM) return null;
  if (ticket.direction !== Direction.IN) return { to: [...ticket.to], cc: [...ticket.cc], bcc: [...ticket.bcc] };
  const sender = senderOf(ticket, customer);
  return { to: sender === null ? [] : [sender], cc: [...ticket.cc], bcc: [] };
}

function senderOf({ channel, from }: AddressedTicket, customer?: ReachableCustomer): string | null {
  const email = customer?.email ?? null;
  if (email === null || !isEmail(email) || !channelsWithoutAddress.includes(channel)) return from;
  return from !== null && isEmail(from) ? from : email;
}
