import { Channel, Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import {
  AiProcess,
  type CreateTicketRequest,
  CreateTicketRequestSchema,
  type CreateTicketResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import { attachFiles } from '@ticketing/files/attach-files.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { writeWithFiles } from '@ticketing/files/write-with-files.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { type Context, ticketSubject } from '../context.ts';
import { unknownTags } from '../tag/rules/tag.ts';
import type { TagTree } from '../tag/rules/tree.ts';
import { findSubchannelViolations } from './find-subchannel-violations.ts';
import { insertTicket, type WriteText } from './insert.ts';
import { ticketInputReader } from './read-input.ts';
import { addressViolations } from './rules/addresses.ts';
import type { TicketInput } from './rules/fields.ts';
import { ticketThatWasWritten } from './single-to-proto.ts';
import type { StoredTicket } from './store/stored-ticket.ts';
import { templateText, templateViolations } from './template/text.ts';
import { upsertTicket } from './upsert.ts';

const readInput = ticketInputReader(CreateTicketRequestSchema);

/**
 * Creates a ticket, or updates the one with the same external id.
 *
 * Errors: unknown_tag, unknown_subchannel, subchannel_disabled, invalid_format, not_allowed, conflicting_fields, each with
 * a pointer; those of `attachFiles` and `templateText`; concurrent_change; sandbox_busy and sandbox_crashed, for a long body.
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
  const text = await withBodyFields(context, call, given);
  const attachments = await attachFiles(context, call, request.attachments);
  const input = attachments.length === 0 ? text : { ...text, attachments };
  // The files of a template are added when it is rendered.
  const files = [...attachments];
  const written = await writeWithFiles(
    context,
    call,
    files,
    () => writeInput(context, call, request, input, textWriter(context, call, request, { tree, input, files })),
    ({ ticket }) => ticket.attachments,
  );
  call.idempotency?.addSubject(ticketSubject(written.ticket.id));
  const stored = request.process === AiProcess.REALTIME ? await analysed(context, call, written) : written;
  const options = { withRawData: request.includeRawData ?? false, tree };
  return {
    $typeName: 'ticketing.tickets.v1.CreateTicketResponse',
    ticket: await ticketThatWasWritten(context, call, stored, options),
  };
}

/** A ticket after its analysis; unchanged, if that is made later. */
async function analysed(context: Context, call: Call, written: StoredTicket): Promise<StoredTicket> {
  await context.analyses.now(call, written.ticket.id);
  return (await context.tickets.find(written.ticket.id)) ?? written;
}

function writeInput(
  context: Context,
  call: Call,
  { externalTicketId }: CreateTicketRequest,
  input: TicketInput,
  writeText: WriteText | undefined,
): Promise<StoredTicket> {
  return externalTicketId === undefined
    ? insertTicket(context, call, input, writeText)
    : upsertTicket(context, call, input, externalTicketId, writeText);
}

/** Writes the text of the ticket by the template that the request names. The files of the template are added to `files`. */
function textWriter(
  context: Context,
  call: Call,
  { templateId, templateData }: CreateTicketRequest,
  { tree, input, files }: { tree: TagTree; input: TicketInput; files: AttachmentState[] },
): WriteText | undefined {
  if (templateId === undefined) return undefined;
  const template = { templateId, templateData };
  const own = input.attachments ?? [];
  return async (stored) => {
    const { direction, subject } = stored.ticket;
    const text = await templateText(context, call, { template, stored, tree, direction, files: own });
    files.push(...text.files);
    return {
      ...(await withBodyFields(context, call, { body: text.body })),
      ...(subject === null && text.subject !== null ? { subject: text.subject } : {}),
      ...(own.length + text.files.length === 0 ? {} : { attachments: [...own, ...text.files] }),
    };
  };
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
    ...templateViolations(request),
    ...(request.templateId !== undefined && request.body !== undefined
      ? [{ pointer: '#/body', code: 'conflicting_fields', detail: 'cannot be combined with templateId' }]
      : []),
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
