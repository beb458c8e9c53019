import { Code, ConnectError } from '@connectrpc/connect';
import { ProblemSchema } from '@ticketing/contracts/ticketing/api/v1/problem_pb.ts';
import {
  ContentType,
  type Conversation,
  DeliveryStatus,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { AiSupportLevel, Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import { cutChars } from '@ticketing/runtime/cut-text.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { ticketChangeOf } from '../agent/rules/ticket-fields.ts';
import type { Context } from '../context.ts';
import type { ExecutionState } from '../intent/rules/execution.ts';
import { type IntentState, intentMessage, nextAutoExecution } from '../intent/rules/intent.ts';

/** A message that was written to the customer. */
export interface WrittenMessage {
  /** Whether it leaves this system, or the customer sees it here. */
  isSent: boolean;
  recipient: string;
  /** Its beginning; see `shownMessage`. */
  text: string;
}

/**
 * The most characters of a message that an outcome shows. A longer one would not fit, with all intents, into a call.
 */
const maxShownChars = 100_000;

/** The beginning of a message, which an outcome shows. */
export function shownMessage(text: string): string {
  return cutChars(text, maxShownChars);
}

/** The channels on which a written message reaches the customer. */
const channelsThatReach: readonly Channel[] = [Channel.EMAIL, Channel.PORTAL, Channel.CHAT];

/** Reads a ticket. Errors: ticket_not_found; those of the tickets service. */
export async function readTicket(context: Context, call: OnBehalfOf, id: number): Promise<Ticket> {
  return (await readSnapshot(context, call, id)).ticket;
}

/** Reads a ticket, and whether it counts as spam. Errors: as `readTicket`. */
export async function readSnapshot(
  context: Context,
  { trace, signal }: OnBehalfOf,
  id: number,
): Promise<{ ticket: Ticket; isSpam: boolean }> {
  // Called without the caller's identity, because only services may call this RPC.
  const { snapshots } = await context.snapshots({ trace, signal }).getTicketSnapshots({ ticketIds: [id] });
  const [{ ticket, isSpam } = {}] = snapshots;
  if (!ticket || isSpam === undefined) throw notFound('Ticket');
  return { ticket, isSpam };
}

/** The recipients of a message to the customer of a ticket; empty if nobody can be reached. */
export function recipientsOf({ channel, replyRecipients }: Ticket): string[] {
  return channelsThatReach.includes(channel) ? (replyRecipients?.to ?? []) : [];
}

/**
 * Writes a message to the customer, once for a key, on behalf of the actor, even if the access token of the actor has
 * expired since the execution began. Errors: as ConnectError.
 */
export async function writeMessage(
  context: Context,
  call: OnBehalfOf,
  { ticketId }: Pick<IntentState, 'ticketId'>,
  { key, text, execution }: { key: string; text?: string; execution: ExecutionState },
): Promise<WrittenMessage> {
  const { templateId, data } = execution;
  const content =
    text === undefined && templateId !== null
      ? { templateId, templateData: data }
      : { content: { type: ContentType.TEXT, message: text ?? '' }, withEmailTemplate: true };
  const headers = { 'idempotency-key': key };
  const actor = { ...call, ...(call.caller && { caller: { ...call.caller, expiresAt: null } }) };
  const { conversation } = await context.conversations(actor).replyToTicket({ ticketId, ...content }, { headers });
  return {
    isSent: conversation !== undefined && isSent(conversation),
    recipient: conversation?.to.join(', ') ?? '',
    text: shownMessage(text ?? conversation?.body ?? ''),
  };
}

/** A message that is no mail is seen in the portal or in the chat. */
function isSent({ deliveryStatus }: Conversation): boolean {
  return deliveryStatus !== DeliveryStatus.FAILED;
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

/** Stores an execution in its ticket, once for its id; `intent` is as it is afterwards. Errors: as ConnectError. */
export async function recordExecution(
  context: Context,
  { trace, signal }: OnBehalfOf,
  intent: IntentState,
  { id, execution, changesTicket, closesTicket, validateOnly = false }: ExecutionRecord,
): Promise<void> {
  const { ticketId } = intent;
  const others = (await context.intents.ofTicket(ticketId)).filter((one) => one.id !== intent.id);
  const intents = [...others, ...(intent.id === 0 ? [] : [intent])].sort((left, right) => left.id - right.id);
  const autoExecuteAt = nextAutoExecution(intents);
  const { caller, fields } = execution;
  await context.analysis({ trace, signal }).recordExecution({
    ticketId,
    executionId: id,
    intentId: Math.max(intent.id, 1),
    intents: intents.slice(-maxIntents).map(intentMessage),
    close: closesTicket,
    validateOnly,
    ...(changesTicket && fields ? { change: ticketChangeOf(fields, ticketId) } : {}),
    ...(autoExecuteAt === null ? {} : { autoExecuteAt: toTimestamp(autoExecuteAt) }),
    ...(caller === null && intent.outcome?.success ? { aiSupportLevel: AiSupportLevel.AUTOMATED } : {}),
    ...(caller === null || caller.profileId === null ? {} : { profileId: caller.profileId, profileKind: caller.kind }),
  });
}

const maxIntents = 100;

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
export function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof ConnectError) || !refusals.has(error.code)) return undefined;
  const [problem] = error.findDetails(ProblemSchema);
  return problem?.reason || Code[error.code].replace(/(?<=.)[A-Z]/g, '_$&').toLowerCase();
}
