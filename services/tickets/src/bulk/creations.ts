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
import type { MessageWriter } from '../message/add.ts';
import { planRecord } from '../message/reply.ts';
import { readTicketFields, type WriteTicketDeps, withFiles, writeTicket } from '../ticket/create.ts';
import type { WriteCall } from '../ticket/insert.ts';
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
  writer: Pick<MessageWriter, 'add' | 'findKnown'>;
}

const renewEveryMs = 2000;
const waitMs = 20;
/** How many tickets of a request are stored at a time. Their writes are batched. */
const concurrency = 16;

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
    const content = { request, input: withFiles(fields, ownFiles) };
    const stored = await patiently(() => writeTicket(deps, partCall(`${row.index}`, row.ticketId), content));
    id = stored.ticket.id;
    for (const [nth, bytes] of messages.entries()) {
      const ofMessage = partCall(`${row.index}-${nth}`, row.conversationIds[nth] ?? null);
      const message = { ...fromBinary(StoreConversationRequestSchema, bytes), ticketId: id };
      await patiently(() => storeMessage(deps, ofMessage, message, filesOfMessages[nth] ?? []));
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

async function storeMessage(
  { writes, settings, writer }: Pick<CreationDeps, 'writes' | 'settings' | 'writer'>,
  call: WriteCall,
  request: StoreConversationRequest,
  attachments: readonly AttachmentState[],
): Promise<void> {
  const stored = await writes.tickets.find(request.ticketId);
  if (!stored) throw notFound('Ticket');
  if (await writer.findKnown(request.externalConversationId)) return;
  const message = await planRecord({ settings }, call, request, stored.ticket);
  const { type = ContentType.TEXT, message: body = '' } = request.content ?? {};
  await writer.add(call, request.ticketId, { ...message, type, body, attachments }, { read: stored });
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
