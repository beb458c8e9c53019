import { Channel, Direction, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { cleanBody, plainBody } from './body-text.ts';
import type { TicketFieldName, TicketState } from './ticket-fields.ts';

/** What a request gives of a ticket: absent fields are not in it. */
export type TicketInput = { [Name in TicketFieldName]?: TicketState[Name] };

/** Who creates a ticket, as far as the rules ask. */
export interface Creator {
  profileId: number | null;
  isHuman: boolean;
}

/**
 * Decides the first state of a ticket.
 *
 * Units: `now` in Unix seconds. Source: specification, POST /ticket (defaults, assignment); decisions.md section 5.
 */
export function newTicket(
  initial: Omit<TicketState, 'id'>,
  input: TicketInput,
  context: { id: number; now: number; creator: Creator; lastAgentRouting: boolean },
): TicketState {
  const { id, now, creator, lastAgentRouting } = context;
  const given = withDerived({ ...initial, id, createdAt: now, ...input }, input);
  const messageAt = given.body === null ? null : given.createdAt;
  return {
    ...given,
    version: 1,
    modifiedAt: now,
    createdBy: creator.profileId,
    agentId: assignee(input.agentId, creator, lastAgentRouting),
    closedAt: given.status === TicketStatus.CLOSED ? now : null,
    lastMessageAt: messageAt,
    lastCustomerMessageAt: given.direction === Direction.IN ? messageAt : null,
  };
}

/** The given agent; without one, the caller if it is a person and the setting `lastAgentRouting` is on. */
function assignee(agentId: number | null | undefined, creator: Creator, lastAgentRouting: boolean): number | null {
  if (agentId !== undefined && agentId !== null) return agentId;
  return lastAgentRouting && creator.isHuman ? creator.profileId : null;
}

/** A change of a ticket: the state after it, and the fields whose values differ. */
export interface TicketChange {
  after: TicketState;
  changed: readonly TicketFieldName[];
}

/**
 * Decides what given values change. Without a difference the ticket is the same, version included.
 *
 * Units: `now` in Unix seconds. Source: decisions.md section 5.
 */
export function changeFields(before: TicketState, input: TicketInput, now: number): TicketChange {
  const { after, changed } = decide(before, input, now);
  return changed.length === 0 ? { after: before, changed } : { after: changedNow(before, after, now), changed };
}

/** What a PATCH gives of a ticket: values to set, tags to add and to remove. */
export interface TicketUpdate {
  input: TicketInput;
  addTagIds: readonly number[];
  removeTagIds: readonly number[];
}

/**
 * Decides what a PATCH changes. One that carries a status is a change even if no value differs; any other that changes
 * nothing is none.
 *
 * Units: `now` in Unix seconds. Source: specification, States and transitions; decisions.md section 5.
 */
export function patchTicket(before: TicketState, update: TicketUpdate, now: number): TicketChange {
  const { addTagIds, removeTagIds } = update;
  const kept = before.tagIds.filter((id) => !removeTagIds.includes(id));
  const tagIds = [...kept, ...addTagIds.filter((id) => !kept.includes(id))];
  const input = addTagIds.length + removeTagIds.length > 0 ? { ...update.input, tagIds } : update.input;
  const { after, changed } = decide(before, input, now);
  if (changed.length === 0 && input.status === undefined) return { after: before, changed };
  return { after: changedNow(before, after, now), changed };
}

/**
 * Decides whether a pending ticket is opened because its `dueBy` has passed.
 *
 * Units: `now` in Unix seconds. Source: decisions.md section 5.
 */
export function reopenDue(before: TicketState, now: number): TicketChange {
  const isDue = before.status === TicketStatus.PENDING && before.dueBy !== null && before.dueBy <= now;
  return changeFields(before, isDue ? { status: TicketStatus.OPEN } : {}, now);
}

function decide(before: TicketState, input: TicketInput, now: number): TicketChange {
  const given = withDerived({ ...before, ...input }, input);
  const closedAt =
    given.status !== TicketStatus.CLOSED ? null : before.status === TicketStatus.CLOSED ? before.closedAt : now;
  const after: TicketState = { ...given, closedAt };
  return { after, changed: changedFields(before, after) };
}

function changedNow(before: TicketState, after: TicketState, now: number): TicketState {
  return { ...after, version: before.version + 1, modifiedAt: now };
}

/**
 * What follows from other fields: no sender on channel system, blind copies of outgoing e-mail only, and the two
 * readings of the body.
 */
function withDerived(ticket: TicketState, input: TicketInput): TicketState {
  const from = ticket.channel === Channel.SYSTEM ? null : ticket.from;
  const bcc = ticket.channel === Channel.EMAIL && ticket.direction === Direction.OUT ? ticket.bcc : [];
  const given = { ...ticket, from, bcc };
  if (input.body === undefined) return given;
  const body = input.body === '' ? null : input.body;
  const bodyPlain = body === null ? null : plainBody(body);
  return { ...given, body, bodyPlain, bodyClean: body === null ? null : cleanBody(body) };
}

/** The fields whose values differ between two states. */
export function changedFields(before: Omit<TicketState, 'id'>, after: Omit<TicketState, 'id'>): TicketFieldName[] {
  const names = Object.keys(after).filter((name) => name !== 'id') as TicketFieldName[];
  return names.filter((name) => !sameValue(before[name], after[name]));
}

function sameValue(left: unknown, right: unknown): boolean {
  if (!Array.isArray(left) || !Array.isArray(right)) return left === right;
  return left.length === right.length && left.every((item, index) => item === right[index]);
}
