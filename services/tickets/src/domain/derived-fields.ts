import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { cleanBody, plainBody } from './body-text.ts';
import type { TicketInput, TicketState } from './ticket-fields.ts';

/**
 * Sets the fields that are derived from others: a ticket on channel system has no sender, only outgoing e-mail has blind
 * copies, and `bodyPlain` and `bodyClean` are made from a body that the input contains.
 */
export function withDerivedFields(ticket: TicketState, input: TicketInput): TicketState {
  const from = ticket.channel === Channel.SYSTEM ? null : ticket.from;
  const bcc = ticket.channel === Channel.EMAIL && ticket.direction === Direction.OUT ? ticket.bcc : [];
  const result = { ...ticket, from, bcc };
  if (input.body === undefined) return result;
  const body = input.body === '' ? null : input.body;
  const bodyPlain = body === null ? null : plainBody(body);
  return { ...result, body, bodyPlain, bodyClean: body === null ? null : cleanBody(body) };
}
