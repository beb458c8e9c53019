import { setTimeout } from 'node:timers/promises';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import {
  type StoreConversationRequest,
  StoreConversationRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import {
  type CreatedTicket,
  CreatedTicketSchema,
  CreateTicketRequestSchema,
  type CreateTicketsResponse,
  CreateTicketsResponseSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError, mayFollowChange, notFound } from '@ticketing/errors/domain-error.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { mapInParallel } from '@ticketing/runtime/map-in-parallel.ts';
import { continueTrace, renderTraceparent } from '@ticketing/runtime/trace.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { whileRenewing } from '@ticketing/store/leases/lease.ts';
import type { MessageWriter, NewMessage } from '../message/add.ts';
import { planRecord } from '../message/reply.ts';
import { readTicketFields, type WriteTicketDeps, withFiles, writeTicket } from '../ticket/create.ts';
import type { WriteCall } from '../ticket/insert.ts';
import type { TicketState } from '../ticket/rules/fields.ts';
import type { StoredTicket } from '../ticket/store/document.ts';
import type { ClaimedCreation, Creation, CreationRow, CreationStore } from './creation-store.ts';

/** Stores the tickets of recorded requests, including those of processes that have died. */
export interface Creations {
  /**
   * Records a valid request, and stores its tickets. An id that is already recorded belongs to a repeated request, which is
   * completed. Returns the response.
   */
  run(
    request: Omit<Creation, 'caller' | 'traceparent'>,
    call: Pick<Call, 'caller' | 'trace'>,
  ): Promise<CreateTicketsResponse>;
  /**
   * Waits until a recorded request is finished, and finishes it here if its process has died. Returns its response;
   * undefined if it is not recorded.
   */
  findRepeated(id: string): Promise<CreateTicketsResponse | undefined>;
  /** Finishes the requests whose processes have died. */
  finishAbandoned(): Promise<void>;
}

export interface CreationDeps extends WriteTicketDeps {
  store: CreationStore;
  writer: Pick<MessageWriter, 'add' | 'addToNew' | 'findKnown'>;
}

const renewEveryMs = 2000;
const waitMs = 20;
/** How many tickets of a request are stored at a time: with more, other callers wait longer, and hardly more are stored. */
const concurrency = 8;

export function openCreations(deps: CreationDeps): Creations {
  const { store } = deps;

  async function apply(creation: ClaimedCreation): Promise<CreateTicketsResponse> {
    const response = fromBinary(CreateTicketsResponseSchema, creation.response);
    const caller = JSON.parse(creation.caller) as Caller;
    const call = { caller, trace: continueTrace(creation.traceparent) };
    await whileRenewing(
      () => store.renew(creation),
      renewEveryMs,
      async () => {
        await mapInParallel(await store.readRows(creation), concurrency, async (row) => {
          response.results[row.index] = await storeRow(deps, call, creation, row);
        });
        await store.finish(creation, toBinary(CreateTicketsResponseSchema, response));
      },
    );
    return response;
  }

  async function findRepeated(id: string): Promise<CreateTicketsResponse | undefined> {
    for (;;) {
      const response = await store.findResponse(id);
      if (response !== null) return response && fromBinary(CreateTicketsResponseSchema, response);
      await finishIfAbandoned(id);
    }
  }

  async function finishIfAbandoned(id: string): Promise<void> {
    const creation = await store.takeOver(id);
    if (creation) await apply(creation);
    else await setTimeout(waitMs);
  }

  return {
    findRepeated,
    async run(request, { caller, trace }) {
      const recorded = { ...request, caller: JSON.stringify(caller), traceparent: renderTraceparent(trace) };
      const creation = await store.insert(recorded);
      const response = await (creation ? apply(creation) : findRepeated(request.id));
      if (!response) throw new Error('the record of a request was removed while it was repeated');
      return response;
    },
    async finishAbandoned() {
      const failures: unknown[] = [];
      for (const id of await store.abandoned()) {
        // One that fails again and again does not keep the others waiting.
        await finishIfAbandoned(id).catch((error: unknown) => failures.push(error));
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** Stores a ticket with its messages, as far as that was not done before, and returns the outcome. */
async function storeRow(
  deps: CreationDeps,
  call: Pick<Call, 'caller' | 'trace'>,
  creation: ClaimedCreation,
  row: CreationRow,
): Promise<CreatedTicket> {
  const [ticket = new Uint8Array(), ...messages] = row.requests;
  const [ownFiles = [], ...filesOfMessages] = row.files;
  const partCall = (part: string, id: number | null): WriteCall => ({
    ...call,
    idempotency: {
      id: `${creation.id}/${part}`,
      // An id that was made void is replaced by another.
      reserve: async (name, choose) =>
        (isFirstId(name) ? id : null) ?? (await deps.store.reserve(creation, `${part}-${name}`, await choose())),
      reserved: (name) => (isFirstId(name) ? (id ?? undefined) : undefined),
      addSubject: () => undefined,
    },
  });
  let id: number | undefined;
  try {
    const request = fromBinary(CreateTicketRequestSchema, ticket);
    const fields = await patiently(() => readTicketFields(deps, call, request));
    const further = messages.map((bytes, nth) => ({
      call: partCall(`${row.index}-${nth}`, row.conversationIds[nth] ?? null),
      id: row.conversationIds[nth],
      request: fromBinary(StoreConversationRequestSchema, bytes),
      attachments: filesOfMessages[nth] ?? [],
    }));
    const planned = further.map((message) => ({
      call: message.call,
      plan: (opened: TicketState) => planMessage(deps, message, opened),
    }));
    const content = {
      request,
      input: withFiles(fields, ownFiles),
      isImport: true,
      ...(planned.length > 0 ? { addMessages: (opened: StoredTicket) => deps.writer.addToNew(opened, planned) } : {}),
    };
    const stored = await patiently(() => writeTicket(deps, partCall(`${row.index}`, row.ticketId), content));
    id = stored.ticket.id;
    const ticketId = id;
    for (const message of further) {
      if (message.id !== undefined && stored.conversationIds.includes(message.id)) continue;
      await patiently(() => storeMessage(deps, ticketId, message));
    }
    return create(CreatedTicketSchema, { success: true, id });
  } catch (error) {
    if (!(error instanceof DomainError) || mayFollowChange(error)) throw error;
    return refusedTicket(error, id);
  }
}

/** Whether a name is that of the first id that a ticket or a message takes. */
function isFirstId(name: string): boolean {
  return name === 'ticket' || name === 'conversation';
}

/** A message of a recorded request, with its files. */
interface RecordedMessage {
  call: WriteCall;
  request: StoreConversationRequest;
  attachments: readonly AttachmentState[];
}

/** Adds a message to a ticket that was there before, or one that its insertion has left out. */
async function storeMessage(deps: CreationDeps, ticketId: number, message: RecordedMessage): Promise<void> {
  const { writes, writer } = deps;
  const stored = await writes.tickets.find(ticketId);
  if (!stored) throw notFound('Ticket');
  if (await writer.findKnown(message.request.externalConversationId)) return;
  const planned = await planMessage(deps, message, stored.ticket);
  await writer.add(message.call, ticketId, planned, { read: stored });
}

async function planMessage(
  { settings }: Pick<CreationDeps, 'settings'>,
  { call, request, attachments }: RecordedMessage,
  ticket: TicketState,
): Promise<NewMessage> {
  const message = await planRecord({ settings }, call, request, ticket);
  const { type = ContentType.TEXT, message: body = '' } = request.content ?? {};
  return { ...message, type, body, attachments };
}

const attempts = 25;
const pauseMs = 200;

/** Does something again that was refused only because much else goes on. Errors: those of `action`. */
async function patiently<Result>(action: () => Promise<Result>): Promise<Result> {
  for (let nth = 1; ; nth += 1) {
    try {
      return await action();
    } catch (error) {
      const isPassing = error instanceof DomainError && (error.code === 'aborted' || error.reason === 'sandbox_busy');
      if (!isPassing || nth === attempts) throw error;
      await setTimeout(pauseMs);
    }
  }
}

/** The outcome of a ticket that was refused, or of which a message was refused. */
export function refusedTicket({ reason, message, violations }: DomainError, id?: number): CreatedTicket {
  const errors = violations.map((violation) => ({ ...violation }));
  return create(CreatedTicketSchema, {
    ...(id === undefined ? {} : { id }),
    error: { code: reason, detail: message, errors },
  });
}
