import { Direction, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { Author } from './author.ts';
import { withDerivedFields } from './derived-fields.ts';
import { type SlaRules, withInitialTargets } from './sla.ts';
import type { TicketInput } from './ticket-fields.ts';
import { initialTicket, type TicketState } from './ticket-fields.ts';

/**
 * Makes the initial state of a ticket.
 *
 * Units: `now` in Unix seconds. Source: docs/reference/api.md, Creating a ticket.
 */
export function newTicket(
  input: TicketInput,
  context: {
    id: number;
    openingMessageId?: number;
    now: number;
    creator: Author;
    lastAgentRouting: boolean;
    sla: SlaRules;
  },
): TicketState {
  const { id, openingMessageId = null, now, creator, lastAgentRouting, sla } = context;
  const given = withInitialTargets(input, input.createdAt ?? now, sla);
  const ticket = withDerivedFields({ ...initialTicket, id, createdAt: now, ...given });
  const messageAt = ticket.body === null ? null : ticket.createdAt;
  return {
    ...ticket,
    version: 1,
    modifiedAt: now,
    createdBy: creator.profileId,
    agentId: assignee(input.agentId, creator, lastAgentRouting),
    closedAt: ticket.status === TicketStatus.CLOSED ? now : null,
    lastMessageAt: messageAt,
    lastCustomerMessageAt: ticket.direction === Direction.IN ? messageAt : null,
    ...(ticket.body === null ? {} : openingMessage(ticket.direction, openingMessageId)),
  };
}

/** The body of a new ticket is its first message. */
function openingMessage(direction: Direction, openingMessageId: number | null): Partial<TicketState> {
  if (direction === Direction.IN) return { openingMessageId, incomingMessages: 1 };
  return { openingMessageId, ...(direction === Direction.OUT ? { outgoingMessages: 1 } : { internalMessages: 1 }) };
}

/** The agent of the request; without one, the creator if it is a person and the setting `lastAgentRouting` is on. */
function assignee(agentId: number | null | undefined, creator: Author, lastAgentRouting: boolean): number | null {
  if (agentId !== undefined && agentId !== null) return agentId;
  return lastAgentRouting && creator.isHuman ? creator.profileId : null;
}
