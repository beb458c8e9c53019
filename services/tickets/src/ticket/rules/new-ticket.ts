import { Direction, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { type Author, withDerivedFields } from './change.ts';
import { initialTicket, type TicketInput, type TicketState } from './fields.ts';
import { type SlaRules, withInitialTargets } from './sla.ts';

/** The facts from which a new ticket follows, besides the fields of the request. Units: `now` in Unix seconds. */
export interface NewTicketContext {
  id: number;
  /** The id of its first message, if it has a body. */
  openingMessageId?: number | null;
  now: number;
  creator: Author;
  lastAgentRouting: boolean;
  sla: SlaRules;
}

/**
 * Makes the initial state of a ticket. Its body is its first message.
 *
 * Source: docs/reference/api.md, Creating a ticket.
 */
export function newTicket(
  input: TicketInput,
  { id, openingMessageId = null, now, creator, lastAgentRouting, sla }: NewTicketContext,
): TicketState {
  const given = withInitialTargets(input, input.createdAt ?? now, sla);
  const ticket = withDerivedFields({ ...initialTicket, id, createdAt: now, ...given });
  const messageAt = ticket.body === null ? null : ticket.createdAt;
  const isMessage = (direction: Direction) => Number(messageAt !== null && ticket.direction === direction);
  return {
    ...ticket,
    version: 1,
    modifiedAt: now,
    createdBy: creator.profileId,
    agentId: assignee(input.agentId, creator, lastAgentRouting),
    closedAt: ticket.status === TicketStatus.CLOSED ? now : null,
    lastMessageAt: messageAt,
    lastCustomerMessageAt: ticket.direction === Direction.IN ? messageAt : null,
    openingMessageId: messageAt === null ? null : openingMessageId,
    incomingMessages: isMessage(Direction.IN),
    outgoingMessages: isMessage(Direction.OUT),
    internalMessages: isMessage(Direction.INTERNAL),
  };
}

/** The agent of the request; without one, the creator if it is a person and the setting `lastAgentRouting` is on. */
function assignee(agentId: number | null | undefined, creator: Author, lastAgentRouting: boolean): number | null {
  if (agentId !== undefined && agentId !== null) return agentId;
  return lastAgentRouting && creator.isHuman ? creator.profileId : null;
}
