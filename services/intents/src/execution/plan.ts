import type { ExecuteIntentRequest } from '@ticketing/contracts/ticketing/intents/v1/intent_service_pb.ts';
import type { NotSentReason } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { ConfidenceColor, TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import type { Ticket } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import { DomainError, invalidInput, notFound, type Violation } from '@ticketing/errors/domain-error.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { type Caller, isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { AiAgentState } from '../agent/rules/agent.ts';
import type { ExecutorState } from '../agent/rules/executor.ts';
import { type AnsweredTicket, findReasonNotInformed, findRecipients } from '../intent/reply.ts';
import { defaultData } from '../intent/rules/data.ts';
import { type ExecutionActor, type ExecutionState, firstStep } from '../intent/rules/execution.ts';
import { type IntentState, recipientText } from '../intent/rules/intent.ts';
import type { ExecutionContext } from './open.ts';
import { requireExecutable, requireTicket } from './require-executable.ts';
import { executionInput } from './rules/input.ts';

/** The request of an execution. */
export type ExecutionRequest = Pick<
  ExecuteIntentRequest,
  'id' | 'intentId' | 'code' | 'ticketId' | 'informCustomer' | 'data' | 'contractId'
>;

/** The actor of an execution: a caller, or the system if it is null. */
export interface Actor extends Pick<OnBehalfOf, 'trace' | 'signal'> {
  caller: Caller | null;
}

/** An execution that can begin, with its intent, AI agent and ticket. */
export interface ExecutionPlan {
  /** Its id is 0 if it has to be created first. */
  intent: IntentState;
  agent: AiAgentState;
  ticket: Ticket;
  /** Why a reply would not be sent; absent if it would be. */
  replyNotSent?: NotSentReason | undefined;
  /** The recipients of a message to the customer. */
  recipients: readonly string[];
  execution: ExecutionState;
}

/**
 * Finds the intent that a request names; undefined if it is to be created.
 *
 * Errors: intent_mismatch, intent_not_found, contract_mismatch.
 */
export async function findIntent(
  context: ExecutionContext,
  request: ExecutionRequest,
): Promise<IntentState | undefined> {
  const { id, intentId = id, code, ticketId, contractId } = request;
  if (intentId !== id) throw mismatch('intentId', 'must be the id in the path');
  if (id === 0) return undefined;
  const intent = await context.intents.find(id);
  if (!intent) throw notFound('Intent');
  if (code !== undefined && code !== intent.code) throw mismatch('code', 'is not that of the intent');
  if (ticketId !== undefined && ticketId !== intent.ticketId) throw mismatch('ticketId', 'is not that of the intent');
  requireContract(intent, contractId);
  return intent;
}

/**
 * Checks everything about an execution before it begins, and plans it. Nothing is written.
 *
 * Errors: ticket_not_found, unknown_ai_agent, required; those of `requireExecutable`; unknown_option, invalid_data,
 * contract_mismatch, intent_invalidated, ticket_closed, customer_needed; those of the tickets service.
 * Source: docs/reference/api.md, Execution of an intent.
 */
export async function planExecution(
  context: ExecutionContext,
  actor: Actor,
  request: ExecutionRequest,
  known: IntentState | undefined,
): Promise<ExecutionPlan> {
  const agent = known ? await readAgent(context, known) : await findAgent(context, request);
  const { caller } = actor;
  requireExecutable(agent, caller);
  const answered = await context.tickets.read(actor, known?.ticketId ?? request.ticketId ?? 0);
  const { ticket, replyNotSent } = answered;
  const intent = known ?? newIntent(agent, answered);
  requireContract(intent, request.contractId);
  const { option, data } = executionInput(intent, request.data, agent.parameters);
  requireTicket(agent, ticket);
  const recipients = findRecipients(answered);
  const informsCustomer = request.informCustomer ?? false;
  const execution: ExecutionState = {
    txId: timeOrderedId('tx', context.runtime),
    startedAt: secondsNow(context.runtime),
    caller: caller && toExecutionActor(caller),
    option,
    data,
    informsCustomer,
    languageCode: ticket.languageCode ?? null,
    ...executorFields(agent.executor),
  };
  // An intent that is created shows the data that it is executed with.
  const shown = known ? intent : { ...intent, data: Object.keys(data).length === 0 ? null : data };
  return { intent: shown, agent, ticket, replyNotSent, recipients, execution };
}

/** Returns why the message that a plan writes would reach nobody; undefined if it would, or if the plan writes none. */
export function findReasonNotWritten(plan: ExecutionPlan): ReturnType<typeof findReasonNotInformed> {
  const isWritten = plan.execution.informsCustomer || plan.execution.step === 'reply';
  return isWritten ? findReasonNotInformed(plan) : undefined;
}

/** Checks that the message that a plan writes reaches somebody. Errors: no_recipient, no_sender. */
export function requireReachable(plan: ExecutionPlan): void {
  const reason = findReasonNotWritten(plan);
  if (reason === 'no_sender')
    throw conflict(reason, 'Mails have no sender: give a mailbox an address, or set mailFrom.');
  if (reason) throw conflict(reason, 'There is no address at which the customer could be informed.');
}

function toExecutionActor(caller: Caller): ExecutionActor {
  const { profileId, kind } = caller;
  return { profileId, kind, isHuman: isHuman(caller), identity: JSON.stringify(caller) };
}

function executorFields(
  executor: ExecutorState,
): Pick<ExecutionState, 'step' | 'templateId' | 'fields' | 'closesTicket'> {
  const { type } = executor;
  return {
    step: firstStep(type),
    templateId: type === 'reply' ? executor.templateId : null,
    fields: type === 'updateTicket' ? executor.fields : null,
    closesTicket: type === 'closeTicket',
  };
}

async function readAgent(context: ExecutionContext, intent: IntentState): Promise<AiAgentState> {
  const agent = intent.status === TicketIntentStatus.READY ? await context.agents.find(intent.aiAgentId) : undefined;
  if (!agent) throw conflict('intent_invalidated', 'The intent no longer applies to the ticket.');
  return agent;
}

async function findAgent(context: ExecutionContext, { code, ticketId }: ExecutionRequest): Promise<AiAgentState> {
  const missing = Object.entries({ code, ticketId }).flatMap(([name, value]): Violation[] =>
    value === undefined ? [{ pointer: `#/${name}`, code: 'required', detail: 'is required to create an intent' }] : [],
  );
  if (missing.length > 0) throw invalidInput(missing);
  const agent = await context.agents.findBySlug(code ?? '');
  if (agent) return agent;
  const detail = 'There is no AI agent with this slug.';
  throw invalidInput([{ pointer: '#/code', code: 'unknown_ai_agent', detail }]);
}

function newIntent({ id, slug, name, options, parameters }: AiAgentState, answered: AnsweredTicket): IntentState {
  return {
    id: 0,
    ticketId: answered.ticket.id,
    aiAgentId: id,
    code: slug,
    name,
    contractId: answered.ticket.contractId ?? null,
    confidence: null,
    // A person has chosen it.
    confidenceColor: ConfidenceColor.SUCCESS,
    messagePreview: null,
    recipient: recipientText(findRecipients(answered)),
    data: defaultData(parameters),
    options,
    infos: [],
    autoExecuteAt: null,
    verified: false,
    status: TicketIntentStatus.READY,
    outcome: null,
    proposedBy: 'request',
    execution: null,
  };
}

function requireContract(intent: IntentState, contractId: string | undefined): void {
  if (contractId === undefined || contractId === intent.contractId) return;
  throw conflict('contract_mismatch', 'The intent is about another contract.');
}

function mismatch(name: string, detail: string): DomainError {
  return invalidInput([{ pointer: `#/${name}`, code: 'intent_mismatch', detail }]);
}

function conflict(reason: string, detail: string): DomainError {
  return new DomainError('failed_precondition', reason, detail);
}
