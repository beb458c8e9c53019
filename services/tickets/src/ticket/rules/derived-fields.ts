import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { TicketFieldName, TicketState } from './fields.ts';

/** The fields that are made of the body, each time that it changes (`../../text/rules/body-texts.ts`), and how they are made. */
export const bodyFields: readonly TicketFieldName[] = ['bodyHtml', 'bodyPlain', 'bodyClean', 'bodyRules', 'isBodyText'];

/**
 * Sets the fields that are derived from others: a ticket on channel system has no sender, and only outgoing e-mail has
 * blind copies.
 */
export function withDerivedFields(ticket: TicketState): TicketState {
  const from = ticket.channel === Channel.SYSTEM ? null : ticket.from;
  const bcc = ticket.channel === Channel.EMAIL && ticket.direction === Direction.OUT ? ticket.bcc : [];
  return { ...ticket, from, bcc };
}
