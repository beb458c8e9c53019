import { create, toBinary } from '@bufbuild/protobuf';
import type { AttachmentInput } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import {
  type StoreConversationRequest,
  StoreConversationRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import {
  AiProcess,
  BulkMode,
  CreatedTicketSchema,
  type CreateTicketRequest,
  CreateTicketRequestSchema,
  type CreateTicketsRequest,
  type CreateTicketsResponse,
  CreateTicketsResponseSchema,
  type NewTicket,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError, invalidInput, mayFollowChange, type Violation } from '@ticketing/errors/domain-error.ts';
import { attachFiles } from '@ticketing/files/attach-files.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { type NewFiles, newFiles } from '@ticketing/files/new-files.ts';
import type { KeyedSlots } from '@ticketing/runtime/keyed-slots.ts';
import { mapInParallel } from '@ticketing/runtime/map-in-parallel.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { IdSequence } from '@ticketing/store/ids/id-sequence.ts';
import { recordViolations } from '../message/reply.ts';
import type { TagTree } from '../tag/rules.ts';
import { findMailboxViolations } from '../ticket/checks.ts';
import { findTicketViolations, type WriteTicketDeps } from '../ticket/create.ts';
import type { TicketState } from '../ticket/rules/fields.ts';
import type { CreationRow } from './creation-store.ts';
import { type Creations, refusedTicket } from './creations.ts';

interface CreateTicketsDeps extends WriteTicketDeps {
  creations: Creations;
  conversationIds: IdSequence;
  /** A caller has few of these requests running; the others wait. */
  slots: KeyedSlots;
}

const maxMessages = 1000;
const maxFiles = 200;
const maxElementBytes = 12 * 1024 * 1024;
/** How many elements are checked at a time. */
const concurrency = 16;

/**
 * Creates several tickets with their messages: everything is checked first, then the request is recorded, then the tickets
 * are stored; if this process dies, another stores them. With mode `all`, nothing is recorded if anything is refused.
 *
 * Errors: too_many_items; with mode `all`, those of `findTicketViolations`, `recordViolations` and `attachFiles`,
 * duplicate_ticket and element_too_large, each with a pointer. Source: docs/reference/api.md, Bulk creation.
 */
export async function createTickets(
  deps: CreateTicketsDeps,
  call: Call,
  request: CreateTicketsRequest,
): Promise<CreateTicketsResponse> {
  requireAllowed(request);
  call.countAs(request.tickets.length);
  return deps.slots.run(callerKey(call.caller), async () => {
    // A recorded request is not checked again: it would be refused although it is being stored.
    const repeated = call.idempotency && (await deps.creations.findRepeated(call.idempotency.id));
    if (repeated) return repeated;
    const files = newFiles(deps.attachments, call);
    return files.settle(checkAndRun(deps, call, request, files));
  });
}

async function checkAndRun(
  deps: CreateTicketsDeps,
  call: Call,
  request: CreateTicketsRequest,
  files: NewFiles,
): Promise<CreateTicketsResponse> {
  const tree = await deps.tags.tree();
  const elements = readElements(request);
  const checked = await mapInParallel(elements, concurrency, (element) => check(deps, call, element, { tree, files }));
  const refused = checked.filter((one) => one instanceof DomainError);
  const isAll = request.mode !== BulkMode.EACH;
  if (isAll && refused.length > 0) throw joined(refused);
  const rows = checked.flatMap((one) => (one instanceof DomainError ? [] : [one]));
  for (const row of rows) for (const some of row.files) files.keep(some);
  const response = create(CreateTicketsResponseSchema, {
    success: true,
    results: checked.map((one) => (one instanceof DomainError ? refusedTicket(one) : create(CreatedTicketSchema))),
  });
  if (rows.length === 0) return response;
  const id = call.idempotency?.id ?? deps.writes.runtime.randomUUID();
  const recorded = toBinary(CreateTicketsResponseSchema, response);
  return deps.creations.run({ id, response: recorded, rows: await withIds(deps, rows) }, call);
}

/** Errors: too_many_items; not_allowed. */
function requireAllowed({ tickets, process }: CreateTicketsRequest): void {
  const counts = [
    { name: 'messages', most: maxMessages, count: sum(tickets.map(({ messages }) => messages.length)) },
    { name: 'files', most: maxFiles, count: sum(tickets.flatMap(allFiles).map(({ length }) => length)) },
  ];
  const violations: Violation[] = counts
    .filter(({ count, most }) => count > most)
    .map(({ name, most }) => ({
      pointer: '#/tickets',
      code: 'too_many_items',
      detail: `must have at most ${most} ${name} together`,
    }));
  if (process === AiProcess.REALTIME) {
    violations.push({ pointer: '#/process', code: 'not_allowed', detail: 'must be batch or false' });
  }
  if (violations.length > 0) throw invalidInput(violations);
}

/** The files of a ticket, and then those of each of its messages. */
function allFiles({ attachments, messages }: NewTicket): AttachmentInput[][] {
  return [attachments, ...messages.map((message) => message.attachments)];
}

/** An element of a request as the requests for which it stands, without their files. */
interface Element {
  index: number;
  pointer: string;
  ticket: CreateTicketRequest;
  messages: StoreConversationRequest[];
  /** The files of the ticket, and then those of each message. */
  files: AttachmentInput[][];
  /** Whether an earlier element has the same external id. */
  isDuplicate: boolean;
}

function readElements({ tickets, process }: CreateTicketsRequest): Element[] {
  const known = new Set<string>();
  return tickets.map((element, index) => {
    const { $typeName: _, $unknown: __, messages, attachments: ___, ...fields } = element;
    const { externalTicketId } = fields;
    const isDuplicate = externalTicketId !== undefined && known.has(externalTicketId);
    if (externalTicketId !== undefined) known.add(externalTicketId);
    return {
      index,
      pointer: `#/tickets/${index}`,
      ticket: create(CreateTicketRequestSchema, {
        ...fields,
        ...(process === undefined ? {} : { process }),
        send: false,
      }),
      messages: messages.map(({ $typeName: _, $unknown: __, attachments: ___, ...message }) =>
        create(StoreConversationRequestSchema, message),
      ),
      files: allFiles(element),
      isDuplicate,
    };
  });
}

/** A valid element that has no ids yet. */
type CheckedRow = Omit<CreationRow, 'ticketId' | 'conversationIds'> & { isKnown: boolean };

/** Checks an element, and stores its files. Returns the part that is to be recorded, or why it is refused. */
async function check(
  deps: CreateTicketsDeps,
  call: Call,
  element: Element,
  { tree, files }: { tree: TagTree; files: NewFiles },
): Promise<CheckedRow | DomainError> {
  const { index, pointer, ticket, messages } = element;
  const { tickets, ids } = deps.writes;
  const { externalTicketId } = ticket;
  const knownId = externalTicketId === undefined ? undefined : await ids.external.find(externalTicketId);
  const isRead = knownId !== undefined && messages.length > 0;
  const known = { intents: [], ...(isRead ? (await tickets.find(knownId))?.ticket : {}), channel: ticket.channel ?? 0 };
  const requests = [
    toBinary(CreateTicketRequestSchema, ticket),
    ...messages.map((message) => toBinary(StoreConversationRequestSchema, message)),
  ];
  const violations = [
    ...within(pointer, [
      ...(element.isDuplicate
        ? [{ pointer: '#/externalTicketId', code: 'duplicate_ticket', detail: 'comes twice' }]
        : []),
      ...(sum(requests.map(({ length }) => length)) > maxElementBytes
        ? [{ pointer: '#', code: 'element_too_large', detail: `is larger than ${maxElementBytes} bytes` }]
        : []),
      ...(await findTicketViolations(deps, ticket, tree)),
    ]),
    ...(await findMessageViolations(deps, element, known)),
    ...element.files.flatMap((inputs, nth) => within(pointerOfFiles(pointer, nth), fetchedFiles(inputs))),
  ];
  if (violations.length > 0) return invalidInput(violations);
  try {
    const stored: AttachmentState[][] = [];
    for (const [nth, inputs] of element.files.entries()) {
      const attached = inputs.length === 0 ? [] : attachFiles(deps.attachments, call, inputs);
      stored.push(files.add(await atPointer(pointerOfFiles(pointer, nth), attached)));
    }
    return { index, requests, files: stored, isKnown: knownId !== undefined };
  } catch (error) {
    if (error instanceof DomainError && !mayFollowChange(error)) return error;
    throw error;
  }
}

/** Where the files of a ticket are in the request, or those of its messages. */
function pointerOfFiles(pointer: string, nth: number): string {
  return nth === 0 ? pointer : `${pointer}/messages/${nth - 1}`;
}

/** Nothing is fetched for a bulk. */
function fetchedFiles(inputs: readonly AttachmentInput[]): Violation[] {
  return inputs.flatMap(({ url }, nth) =>
    url === undefined
      ? []
      : [{ pointer: `#/attachments/${nth}/url`, code: 'not_allowed', detail: 'is not for tickets of a bulk' }],
  );
}

async function findMessageViolations(
  { settings }: CreateTicketsDeps,
  { pointer, messages }: Element,
  ticket: Pick<TicketState, 'channel' | 'intents'>,
): Promise<Violation[]> {
  const found = messages.map(async (message, nth) =>
    within(`${pointer}/messages/${nth}`, [
      ...recordViolations(message, ticket),
      ...(await findMailboxViolations(settings, ticket.channel, message.subchannelId)),
    ]),
  );
  return (await Promise.all(found)).flat();
}

function within(pointer: string, violations: readonly Violation[]): Violation[] {
  return violations.map((violation) => ({ ...violation, pointer: violation.pointer.replace('#', pointer) }));
}

/** Waits for the files of a part of the request. Errors: those of `attached`, with pointers into the request. */
async function atPointer<Result>(pointer: string, attached: Result | Promise<Result>): Promise<Result> {
  try {
    return await attached;
  } catch (error) {
    if (!(error instanceof DomainError) || error.violations.length === 0) throw error;
    const { code, reason, message, retryAfterSeconds } = error;
    throw new DomainError(code, reason, message, {
      violations: within(pointer, error.violations),
      retryAfterSeconds,
      cause: error,
    });
  }
}

/** The error for all refused elements of a request: the first that is no violation of the input, else all violations. */
function joined(refused: readonly DomainError[]): DomainError {
  const other = refused.find(({ code }) => code !== 'invalid_argument');
  return other ?? invalidInput(refused.flatMap(({ violations }) => violations));
}

/** Chooses the ids of tickets and messages, so that whoever stores them takes the same. */
async function withIds(
  { writes, conversationIds }: CreateTicketsDeps,
  rows: readonly CheckedRow[],
): Promise<CreationRow[]> {
  const next = ({ isKnown, ...row }: CheckedRow) =>
    Promise.all([
      isKnown ? null : writes.ids.sequence.next(),
      Promise.all(row.requests.slice(1).map(() => conversationIds.next())),
    ]).then(([ticketId, ids]) => ({ ...row, ticketId, conversationIds: ids }));
  return Promise.all(rows.map(next));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
