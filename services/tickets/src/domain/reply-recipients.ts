import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';

/** Who should get a reply. */
export interface Recipients {
  to: string[];
  cc: string[];
  bcc: string[];
}

/** Whom a message came from and went to. */
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
}

/**
 * Recommends who should get a reply to the latest message: if it is incoming, its sender and those who got copies, else
 * its recipients again. System tickets have no reply, so the result is null.
 *
 * Source: docs/reference/api.md, Ticket fields.
 */
export function replyRecipients(ticket: AddressedTicket): Recipients | null {
  if (ticket.channel === Channel.SYSTEM) return null;
  const { direction, from, to, cc, bcc } = ticket.latestMessage ?? ticket;
  if (direction !== Direction.IN) return { to: [...to], cc: [...cc], bcc: [...bcc] };
  return { to: from === null ? [] : [from], cc: [...cc], bcc: [] };
}
