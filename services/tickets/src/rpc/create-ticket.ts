import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  type CreateTicketRequest,
  CreateTicketRequestSchema,
  type CreateTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { attachFiles } from '../application/attach-files.ts';
import { type Context, ticketSubject } from '../application/context.ts';
import { insertTicket } from '../application/insert-ticket.ts';
import { ticketInputReader } from '../application/read-ticket-input.ts';
import { findSubchannelViolations } from '../application/require-subchannels.ts';
import { ticketThatWasWritten } from '../application/single-ticket.ts';
import { upsertTicket } from '../application/upsert-ticket.ts';
import { writeWithFiles } from '../application/write-with-files.ts';
import { addressViolations } from '../domain/addresses.ts';
import { unknownTags } from '../domain/tag.ts';
import type { TagTree } from '../domain/tag-tree.ts';
import type { TicketInput } from '../domain/ticket-fields.ts';
import type { StoredTicket } from '../store/stored-ticket.ts';

const readInput = ticketInputReader(CreateTicketRequestSchema);

/**
 * Creates a ticket, or updates the one with the same external id.
 *
 * Errors: unknown_tag, unknown_subchannel, subchannel_disabled, invalid_format, not_allowed, each with a pointer; those of
 * `attachFiles`; concurrent_change; sandbox_busy and sandbox_crashed, for a long body.
 * Source: docs/reference/api.md, Creating a ticket.
 */
export async function createTicket(
  context: Context,
  call: Call,
  request: CreateTicketRequest,
): Promise<CreateTicketResponse> {
  const recentTree = await context.tags.recentTree();
  const tree = request.tags.every(recentTree.get) ? recentTree : await context.tags.tree();
  const given = readInput(request);
  const violations = [
    ...(await findViolations(context, request, tree)),
    ...(await findSubchannelViolations(context, [{ input: given, pointer: '#' }])),
  ];
  if (violations.length > 0) throw invalidInput(violations);
  const input = await withBodyFields(context, call, given);
  const attachments = await attachFiles(context, call, request.attachments, '#/attachments');
  const stored = await writeWithFiles(
    context,
    call,
    attachments,
    () => writeInput(context, call, request, attachments.length === 0 ? input : { ...input, attachments }),
    ({ ticket }) => ticket.attachments,
  );
  call.idempotency?.addSubject(ticketSubject(stored.ticket.id));
  const options = { withRawData: request.includeRawData ?? false, tree };
  return {
    $typeName: 'ticketing.tickets.v1.CreateTicketResponse',
    ticket: await ticketThatWasWritten(context, call, stored, options),
  };
}

function writeInput(
  context: Context,
  call: Call,
  { externalTicketId }: CreateTicketRequest,
  input: TicketInput,
): Promise<StoredTicket> {
  return externalTicketId === undefined
    ? insertTicket(context, call, input)
    : upsertTicket(context, call, input, externalTicketId);
}

/** Adds the texts that are made of a body. An empty body is none. */
async function withBodyFields(context: Context, { caller }: Call, input: TicketInput): Promise<TicketInput> {
  if (input.body === undefined) return input;
  const body = input.body === '' ? null : input.body;
  return { ...input, body, ...(await context.textWork.bodyFields(body, caller)), isBodyText: false };
}

async function findViolations(context: Context, request: CreateTicketRequest, tree: TagTree): Promise<Violation[]> {
  const { channel = 0, from, to, cc, bcc } = request;
  const direction = request.direction ?? (await storedDirection(context, request));
  return [
    ...addressViolations({ channel, direction, from, to, cc, bcc }),
    ...unknownTags(tree, request.tags, '#/tags'),
    ...(request.channelId !== undefined && channel !== Channel.CHAT
      ? [{ pointer: '#/channelId', code: 'not_allowed', detail: 'is for channel chat only' }]
      : []),
  ];
}

/**
 * The direction for a request without one. An update keeps that of the ticket, which is read only if the request has
 * blind copies, because nothing else depends on it.
 */
async function storedDirection(context: Context, { externalTicketId, bcc }: CreateTicketRequest): Promise<Direction> {
  if (externalTicketId === undefined || bcc.length === 0) return Direction.IN;
  const stored = await context.tickets.findByExternalId(externalTicketId);
  return stored?.ticket.direction ?? Direction.IN;
}
