import { Channel, Direction, SpamStatus, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { initialTicket, type TicketFieldName, type TicketInput, type TicketState } from './fields.ts';
import { type SlaRules, withInitialTargets } from './sla.ts';

/** A change of a ticket: the state after it, and the fields whose values differ. */
export interface TicketChange {
  after: TicketState;
  changed: readonly TicketFieldName[];
}

/**
 * Sets fields of a ticket. If no value differs, `after` is the same object, with its old version.
 *
 * Units: `now` in Unix seconds. Source: docs/reference/api.md, Updating a ticket.
 */
export function changeFields(before: TicketState, input: TicketInput, now: number): TicketChange {
  const change = setFields(before, input, now);
  return change.changed.length === 0 ? { after: before, changed: [] } : change;
}

/**
 * Sets fields of a ticket, and makes a new version of it even if no value differs.
 *
 * Units: `now` in Unix seconds. Source: docs/reference/api.md, Updating a ticket.
 */
export function setFields(before: TicketState, input: TicketInput, now: number): TicketChange {
  const ticket = withDerivedFields({ ...before, ...input });
  const after = { ...ticket, closedAt: closedAt(before, ticket.status, now) };
  const changed = changedFields(before, after);
  return { after: { ...after, version: before.version + 1, modifiedAt: now }, changed };
}

/** The time since which the ticket has the status closed; null with any other status. */
function closedAt(before: TicketState, status: TicketStatus, now: number): number | null {
  if (status !== TicketStatus.CLOSED) return null;
  return before.status === TicketStatus.CLOSED ? before.closedAt : now;
}

/**
 * The fields whose values differ between two states. Fields that are made of the body are among them only if the body
 * is: a change of the rules by which they are made is no change of the ticket.
 */
export function changedFields(before: Omit<TicketState, 'id'>, after: Omit<TicketState, 'id'>): TicketFieldName[] {
  const names = Object.keys(after).filter((name) => name !== 'id') as TicketFieldName[];
  const changed = names.filter((name) => !isSameValue(before[name], after[name]));
  return changed.includes('body') ? changed : changed.filter((name) => !bodyFields.includes(name));
}

/** Whether two values of a field are the same; lists are, if their items are. */
export function isSameValue(left: unknown, right: unknown): boolean {
  if (!Array.isArray(left) || !Array.isArray(right)) return left === right;
  return left.length === right.length && left.every((item, index) => item === right[index]);
}

/** The fields that are made of the body, each time that it changes (`../../text/rules/body-texts.ts`), and how they are made. */
export const bodyFields: readonly TicketFieldName[] = ['bodyHtml', 'bodyPlain', 'bodyClean', 'bodyRules', 'isBodyText'];

/**
 * Sets the fields that are derived from others: a ticket on channel system has no sender, and only outgoing e-mail has
 * blind copies.
 */
function withDerivedFields(ticket: TicketState): TicketState {
  const from = ticket.channel === Channel.SYSTEM ? null : ticket.from;
  const bcc = ticket.channel === Channel.EMAIL && ticket.direction === Direction.OUT ? ticket.bcc : [];
  return { ...ticket, from, bcc };
}

/** The creator or editor of a ticket, with the properties that the rules depend on. */
export interface Author {
  /** Null for a service. */
  profileId: number | null;
  isHuman: boolean;
}

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
  const isOfProgram = ticket.spamStatus === SpamStatus.AUTO_PROGRAMMATIC;
  const isMessage = (direction: Direction) =>
    messageAt !== null && ticket.direction === direction && !(direction === Direction.IN && isOfProgram);
  return {
    ...ticket,
    version: 1,
    modifiedAt: now,
    createdBy: creator.profileId,
    agentId: assignee(input.agentId, creator, lastAgentRouting),
    closedAt: ticket.status === TicketStatus.CLOSED ? now : null,
    lastMessageAt: messageAt,
    lastCustomerMessageAt: isMessage(Direction.IN) ? messageAt : null,
    openingMessageId: messageAt === null ? null : openingMessageId,
    incomingMessages: Number(isMessage(Direction.IN)),
    outgoingMessages: Number(isMessage(Direction.OUT)),
    internalMessages: Number(isMessage(Direction.INTERNAL)),
  };
}

/** The agent of the request; without one, the creator if it is a person and the setting `lastAgentRouting` is on. */
function assignee(agentId: number | null | undefined, creator: Author, lastAgentRouting: boolean): number | null {
  if (agentId !== undefined && agentId !== null) return agentId;
  return lastAgentRouting && creator.isHuman ? creator.profileId : null;
}
