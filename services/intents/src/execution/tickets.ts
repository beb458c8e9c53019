import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Client, Code, ConnectError } from '@connectrpc/connect';
import { ProblemSchema } from '@ticketing/contracts/ticketing/api/v1/problem_pb.ts';
import type {
  AnalysisService,
  RecordExecutionRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import {
  ContentType,
  type Conversation,
  DeliveryStatus,
  NotSentReason,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import type { ConversationService } from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { AiSupportLevel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { IntentOutcome } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import type { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import { cutChars } from '@ticketing/runtime/cut-text.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { toTicketChange } from '../agent/rules/ticket-fields.ts';
import { type AnsweredTicket, shownRecipients } from '../intent/reply.ts';
import type { ExecutionState } from '../intent/rules/execution.ts';
import { type IntentState, intentToProto, nextAutoExecution } from '../intent/rules/intent.ts';
import type { IntentStore } from '../intent/store.ts';
import type { MessageText } from './rules/outcome.ts';

/** A message that was written to the customer. */
export interface WrittenMessage {
  /** Whether it leaves as a mail, or the customer reads it in the chat. */
  isSent: boolean;
  /** The parts of the outcome that show it; of its text only the beginning (`shownMessage`). */
  shown: Pick<
    IntentOutcome,
    'recipient' | 'message' | 'messageType' | 'conversationId' | 'deliveryStatus' | 'notSentReason'
  >;
}

/**
 * The most characters of a message that an outcome shows. A longer one would not fit, with all intents, into a call.
 */
const maxShownChars = 100_000;

/** Returns the beginning of a message, which an outcome shows. */
export function shownMessage(text: string): string {
  return cutChars(text, maxShownChars);
}

/** The message to write. */
export interface OutgoingMessage {
  /** The key of the message: the tickets service writes one for a key. */
  key: string;
  /** Undefined for the message of the response template. */
  text?: MessageText;
  execution: ExecutionState;
}

/** The record of an execution in its ticket. */
export interface ExecutionRecord {
  id: string;
  execution: ExecutionState;
  /** Whether the executor's change of the ticket is made too. */
  changesTicket: boolean;
  closesTicket: boolean;
  validateOnly?: boolean;
}

/** A call of this service without the identity of a caller. */
type OwnCall = Pick<OnBehalfOf, 'trace' | 'signal'>;

/** The reads and writes of an execution in the tickets service. Errors: those of the tickets service, as ConnectError. */
export interface TicketCalls {
  /** Reads a ticket, whether it counts as spam, and whether a reply leaves. Errors: ticket_not_found. */
  read(call: OwnCall, id: number): Promise<AnsweredTicket & { isSpam: boolean }>;
  /**
   * Writes a message to the customer, once for a key, on behalf of the actor, even if the access token of the actor has
   * expired since the execution began.
   */
  writeMessage(call: OnBehalfOf, ticketId: number, message: OutgoingMessage): Promise<WrittenMessage>;
  /** Stores an execution in its ticket, once for its id; `intent` is as it is afterwards. */
  recordExecution(call: OwnCall, intent: IntentState, record: ExecutionRecord): Promise<void>;
  /** Ends the wait of a ticket for the execution of an intent, and begins the one for its other intents. */
  cancelAutoExecution(call: OwnCall, ticket: Ticket, intentId: number): Promise<void>;
}

/** The clients of the tickets service that executions use. */
export interface TicketServices {
  snapshots(call: OnBehalfOf): Client<typeof SnapshotService>;
  conversations(call: OnBehalfOf): Client<typeof ConversationService>;
  analysis(call: OnBehalfOf): Client<typeof AnalysisService>;
}

/** Opens the calls of the tickets service. Calls that only services may make carry no identity of a caller. */
export function openTicketCalls(services: TicketServices, intents: Pick<IntentStore, 'ofTicket'>): TicketCalls {
  const readOthers = async (ticketId: number, intentId: number) =>
    (await intents.ofTicket(ticketId)).filter(({ id }) => id !== intentId);
  return {
    async read({ trace, signal }, id) {
      const { snapshots } = await services.snapshots({ trace, signal }).getTicketSnapshots({
        ticketIds: [id],
        withReplyNotSent: true,
      });
      const [{ ticket, isSpam, replyNotSent } = {}] = snapshots;
      if (!ticket || isSpam === undefined) throw notFound('Ticket');
      return { ticket, isSpam, replyNotSent };
    },
    async writeMessage(call, ticketId, { key, text, execution }) {
      const { templateId, data } = execution;
      const content =
        text === undefined && templateId !== null
          ? { templateId, templateData: data }
          : { content: { type: text?.type ?? ContentType.TEXT, message: text?.text ?? '' }, withEmailTemplate: true };
      const headers = { 'idempotency-key': key };
      const actor = { ...call, ...(call.caller && { caller: { ...call.caller, expiresAt: null } }) };
      const { conversation } = await services.conversations(actor).replyToTicket({ ticketId, ...content }, { headers });
      if (!conversation) throw new Error('the response has no message');
      const { id: conversationId, body = '', type, deliveryStatus, notSentReason } = conversation;
      return {
        isSent: isSent(conversation),
        shown: {
          recipient: shownRecipients(conversation).join(', '),
          message: shownMessage(text?.text ?? body),
          messageType: text?.type ?? type,
          ...{ conversationId, deliveryStatus },
          ...(notSentReason === undefined ? {} : { notSentReason }),
        },
      };
    },
    async recordExecution({ trace, signal }, intent, record) {
      const others = await readOthers(intent.ticketId, intent.id);
      await services.analysis({ trace, signal }).recordExecution(recordToProto(intent, others, record));
    },
    async cancelAutoExecution({ trace, signal }, { id: ticketId, autoExecuteAt: replaced }, intentId) {
      if (!replaced) return;
      const next = nextAutoExecution(await readOthers(ticketId, intentId));
      const request = { ticketId, replaced, ...(next === null ? {} : { autoExecuteAt: toTimestamp(next) }) };
      await services.analysis({ trace, signal }).replaceAutoExecution(request);
    },
  };
}

/** A mail that has failed was sent too. In a chat the customer reads the message: nothing is executed in one that nobody shows. */
function isSent({ deliveryStatus, notSentReason }: Conversation): boolean {
  if (notSentReason === NotSentReason.CHANNEL_WITHOUT_MAIL) return true;
  return deliveryStatus !== DeliveryStatus.NONE;
}

const maxIntents = 100;

function recordToProto(
  intent: IntentState,
  others: readonly IntentState[],
  { id, execution, changesTicket, closesTicket, validateOnly = false }: ExecutionRecord,
): MessageInitShape<typeof RecordExecutionRequestSchema> {
  const { ticketId } = intent;
  const intents = [...others, ...(intent.id === 0 ? [] : [intent])].sort((left, right) => left.id - right.id);
  const autoExecuteAt = nextAutoExecution(intents);
  const { caller, fields } = execution;
  return {
    ticketId,
    executionId: id,
    intentId: Math.max(intent.id, 1),
    intents: intents.slice(-maxIntents).map(intentToProto),
    close: closesTicket,
    validateOnly,
    ...(changesTicket && fields ? { change: toTicketChange(fields, ticketId) } : {}),
    ...(autoExecuteAt === null ? {} : { autoExecuteAt: toTimestamp(autoExecuteAt) }),
    ...(caller === null && intent.outcome?.success ? { aiSupportLevel: AiSupportLevel.AUTOMATED } : {}),
    ...(caller === null || caller.profileId === null ? {} : { profileId: caller.profileId, profileKind: caller.kind }),
  };
}

/** Codes of errors after which the same request would be refused again. Other errors are retryable. */
const refusals = new Set<Code>([
  Code.InvalidArgument,
  Code.OutOfRange,
  Code.NotFound,
  Code.AlreadyExists,
  Code.FailedPrecondition,
  Code.PermissionDenied,
  Code.Unimplemented,
]);

/** Returns the reason of a permanent refusal by another service; undefined for a retryable error. */
export function readRefusal(error: unknown): string | undefined {
  if (!(error instanceof ConnectError) || !refusals.has(error.code)) return undefined;
  const [problem] = error.findDetails(ProblemSchema);
  return problem?.reason || Code[error.code].replace(/(?<=.)[A-Z]/g, '_$&').toLowerCase();
}
