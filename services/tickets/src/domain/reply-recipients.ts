import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';

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

/**
 * Recommends who should get a reply: for an incoming ticket its sender and those who got copies, for any other ticket
 * its recipients again. System tickets have no reply, so the result is null.
 *
 * Source: docs/reference/api.md, Ticket fields.
 */
export function replyRecipients(ticket: AddressedTicket): Recipients | null {
  if (ticket.channel === Channel.SYSTEM) return null;
  if (ticket.direction !== Direction.IN) return { to: [...ticket.to], cc: [...ticket.cc], bcc: [...ticket.bcc] };
  return { to: ticket.from === null ? [] : [ticket.from], cc: [...ticket.cc], bcc: [] };
}
