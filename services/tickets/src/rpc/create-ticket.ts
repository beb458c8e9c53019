import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  type CreateTicketRequest,
  CreateTicketRequestSchema,
  type CreateTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError, invalidInput, notFound, type Violation } from '@ticketing/errors/domain-error.ts';
import { isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { changeTicket, type Decision } from '../application/change-ticket.ts';
import type { Context } from '../application/context.ts';
import { createdEvent, originOf, updatedEvent } from '../application/ticket-event.ts';
import { ticketInputReader } from '../application/ticket-input.ts';
import { fullTicket } from '../application/ticket-message.ts';
import { addressViolations } from '../domain/addresses.ts';
import type { TagTree } from '../domain/tag-tree.ts';
import { changeFields, newTicket, type TicketInput } from '../domain/ticket.ts';
import { initialTicket } from '../domain/ticket-fields.ts';
import type { StoredTicket } from '../store/ticket-store.ts';

const readInput = ticketInputReader(CreateTicketRequestSchema);
const maxAttempts = 20;

/** Creates a ticket, or updates the one with the same external id. Source: specification, POST /ticket. */
export async function createTicket(
  context: Context,
  call: Call,
  request: CreateTicketRequest,
): Promise<CreateTicketResponse> {
  const recent = await context.tags.recentTree();
  const tree = request.tags.every(recent.get) ? recent : await context.tags.tree();
  const direction = request.direction ?? (await keptDirection(context, request));
  const violations = [...addressProblems(request, direction), ...tagProblems(request.tags, tree)];
  if (violations.length > 0) throw invalidInput(violations);
  const input = readInput(request);
  const stored =
    request.externalTicketId === undefined
      ? await create(context, call, input)
      : await upsert(context, call, input, request.externalTicketId);
  call.idempotency?.about(stored.ticket.id);
  const form = { caller: call.caller, withRawData: request.includeRawData ?? false, tree };
  return {
    $typeName: 'ticketing.tickets.v1.CreateTicketResponse',
    ticket: await fullTicket(context, stored, form),
  };
}

/** The direction of a ticket of which none is given: an update keeps what the ticket has. Only blind copies ask. */
async function keptDirection(context: Context, { externalTicketId, bcc }: CreateTicketRequest): Promise<Direction> {
  if (externalTicketId === undefined || bcc.length === 0) return Direction.IN;
  const known = await context.tickets.findByExternalId(externalTicketId);
  return known?.ticket.direction ?? Direction.IN;
}

function addressProblems(request: CreateTicketRequest, direction: Direction): Violation[] {
  const { channel = 0, from, to, cc, bcc } = request;
  return addressViolations({ channel, direction, from, to, cc, bcc });
}

function tagProblems(tagIds: readonly number[], tree: TagTree): Violation[] {
  return tagIds.flatMap((id, index) =>
    tree.get(id) ? [] : [{ pointer: `#/tags/${index}`, code: 'unknown_tag', detail: `tag ${id} does not exist` }],
  );
}

async function create(context: Context, call: Call, input: TicketInput): Promise<StoredTicket> {
  const next = () => context.ticketIds.next();
  const id = await (call.idempotency ? call.idempotency.reserve('ticket', next) : next());
  const created = await insertNew(context, call, input, id);
  if (created) return created;
  // The same request has inserted it in a process that died before it answered.
  const stored = call.idempotency && (await context.tickets.find(id));
  if (!stored) throw call.idempotency ? notFound('Ticket') : new Error('a new id was taken');
  return stored;
}

async function insertNew(
  context: Context,
  call: Call,
  input: TicketInput,
  id: number,
): Promise<StoredTicket | undefined> {
  const { lastAgentRouting } = await context.settings();
  const creator = { profileId: call.caller.profileId, isHuman: isHuman(call.caller) };
  const ticket = newTicket(initialTicket, input, { id, now: context.now(), creator, lastAgentRouting });
  const effect = call.idempotency && { id: call.idempotency.id, at: new Date(context.now() * 1000) };
  const isInserted = await context.tickets.insert(ticket, createdEvent(ticket, originOf(call)), effect);
  return isInserted ? { ticket, workedOn: [], appliedRequests: [], reservedBy: null, manualWorkEntries: 0 } : undefined;
}

/** Whoever comes first binds the external id to a ticket id; all others, at once or later, update that ticket. */
async function upsert(
  context: Context,
  call: Call,
  input: TicketInput,
  externalTicketId: string,
): Promise<StoredTicket> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const { ticketId, isNew } = await claimExternalId(context, externalTicketId);
    const inserted = isNew ? await insertNew(context, call, input, ticketId) : undefined;
    const stored = inserted ?? (await updateExisting(context, call, input, ticketId));
    if (stored) return stored;
    // A crash has left the claim without its ticket, or the ticket was deleted.
    const healed = await insertNew(context, call, input, ticketId);
    if (healed) return healed;
    if (!(await context.tickets.find(ticketId))) await context.tickets.freeExternalIds(ticketId);
  }
  throw new DomainError('aborted', 'concurrent_change', 'The ticket is being changed too often.');
}

async function claimExternalId(context: Context, externalTicketId: string) {
  const proposed = await context.ticketIds.next();
  const ticketId = await context.tickets.claimExternalId(externalTicketId, proposed);
  const isNew = ticketId === proposed;
  if (!isNew) context.ticketIds.release(proposed);
  return { ticketId, isNew };
}

async function updateExisting(
  context: Context,
  call: Call,
  input: TicketInput,
  ticketId: number,
): Promise<StoredTicket | undefined> {
  const now = context.now();
  const decide = ({ ticket }: StoredTicket): Decision => {
    const { after, changed } = changeFields(ticket, input, now);
    if (changed.length === 0) return {};
    return { write: { after, changed, event: updatedEvent(ticket, after, changed, originOf(call)) } };
  };
  return changeTicket(context, ticketId, decide, { requestId: call.idempotency?.id }).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'not_found') return undefined;
    throw error;
  });
}
