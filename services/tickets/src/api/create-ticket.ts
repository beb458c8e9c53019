import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  type CreateTicketRequest,
  CreateTicketRequestSchema,
  type CreateTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError, invalidInput, type Violation } from '@ticketing/rest/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call.ts';
import { isHuman } from '@ticketing/service-kit/caller.ts';
import { addressViolations } from '../domain/addresses.ts';
import type { TagTree } from '../domain/tag-tree.ts';
import { changeTicket, newTicket, type TicketInput } from '../domain/ticket.ts';
import { initialTicket } from '../store/ticket-fields.ts';
import type { StoredTicket } from '../store/ticket-store.ts';
import type { Context } from './context.ts';
import { createdEvent, updatedEvent } from './ticket-event.ts';
import { ticketInputReader } from './ticket-input.ts';
import { fullTicket } from './ticket-message.ts';

const readInput = ticketInputReader(CreateTicketRequestSchema);
const maxAttempts = 100;

/** Creates a ticket, or updates the one with the same external id. Source: specification, POST /ticket. */
export async function createTicket(
  context: Context,
  call: Call,
  request: CreateTicketRequest,
): Promise<CreateTicketResponse> {
  const tree = await context.tags.tree();
  const direction = request.direction ?? (await keptDirection(context, request));
  const violations = [...addressProblems(request, direction), ...tagProblems(request.tags, tree)];
  if (violations.length > 0) throw invalidInput(violations);
  const input = readInput(request);
  const stored =
    request.externalTicketId === undefined
      ? await insertNew(context, call, input, await context.ticketIds.next())
      : await upsert(context, call, input, request.externalTicketId);
  if (!stored) throw new Error('a new id was taken');
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

async function insertNew(
  context: Context,
  call: Call,
  input: TicketInput,
  id: number,
): Promise<StoredTicket | undefined> {
  const { lastAgentRouting } = await context.settings();
  const creator = { profileId: call.caller.profileId, isHuman: isHuman(call.caller) };
  const ticket = newTicket(initialTicket, input, { id, now: context.now(), creator, lastAgentRouting });
  const isInserted = await context.tickets.insert(ticket, createdEvent(ticket, call.caller));
  return isInserted ? { ticket, workedOn: [] } : undefined;
}

/** Whoever comes first binds the external id to a ticket id; all others, at once or later, update that ticket. */
async function upsert(
  context: Context,
  call: Call,
  input: TicketInput,
  externalTicketId: string,
): Promise<StoredTicket> {
  const claim = await claimExternalId(context, externalTicketId);
  return context.ticketQueue.run(claim.ticketId, async () => {
    let mayExist = !claim.isNew;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const stored = mayExist ? await context.tickets.find(claim.ticketId) : undefined;
      const result = stored
        ? await updateExisting(context, call, input, stored)
        : await insertNew(context, call, input, claim.ticketId);
      if (result) return result;
      mayExist = true;
    }
    throw new DomainError('aborted', 'concurrent_change', 'The ticket is being changed too often.');
  });
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
  stored: StoredTicket,
): Promise<StoredTicket | undefined> {
  const { after, changed } = changeTicket(stored.ticket, input, context.now());
  if (changed.length === 0) return stored;
  const event = updatedEvent(stored.ticket, after, changed, call.caller);
  const isWritten = await context.tickets.update(stored.ticket, after, changed, event);
  return isWritten ? { ...stored, ticket: after } : undefined;
}
