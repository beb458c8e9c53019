import { setTimeout } from 'node:timers/promises';
import type {
  ExecuteIntentRequest,
  ExecuteIntentResponse,
} from '@ticketing/contracts/ticketing/intents/v1/intent_service_pb.ts';
import { DeliveryStatus } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { type IntentOutcome, TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { DomainError, notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { IntentState } from '../intent/rules/intent.ts';
import type { ExecutionContext } from './open.ts';
import { type Actor, type ExecutionPlan, findIntent, planExecution, requireReachable } from './plan.ts';
import { finishExecution, runExecution } from './run.ts';
import { simulateExecution } from './simulate.ts';

/**
 * A call that has waited some seconds for an execution that failed or never began tries its own, up to this many times.
 */
const maxAttempts = 5;
/** The longest wait of a call for the outcome of another one. */
const waitMs = 5_000;
const pollMs = 200;
const ownPauseMs = 1000;
/** One of this many polls checks whether the process of the other call has died. */
const pollsPerTakeOver = 5;

/** An outcome, and its ticket. */
interface TicketOutcome {
  ticketId: number;
  outcome: IntentOutcome;
  /** Whether it is of an earlier execution. */
  isStored?: boolean;
}

/**
 * Executes an intent once: later calls get the stored outcome.
 *
 * Errors: intent_running; those of `findIntent`, `planExecution`, `requireReachable` and `runExecution`.
 * Source: docs/reference/api.md, Execution of an intent.
 */
export async function executeIntent(
  context: ExecutionContext,
  call: Call,
  request: ExecuteIntentRequest,
): Promise<ExecuteIntentResponse> {
  const intent = (await findIntent(context, request)) ?? (await findReserved(context, call));
  const executed = request.dryRun
    ? await simulate(context, call, request, intent)
    : await execute(context, call, request, intent);
  const { ticketId } = executed;
  const outcome = await withCurrentDelivery(context, call, executed);
  call.idempotency?.addSubject({ kind: 'Ticket', id: ticketId });
  return { $typeName: 'ticketing.intents.v1.ExecuteIntentResponse', outcome };
}

/**
 * Returns an outcome with the state of its message as it is now, which the ticket knows. While the tickets service does
 * not respond, it is the state at the execution.
 */
async function withCurrentDelivery(
  { tickets, log }: ExecutionContext,
  call: Call,
  { ticketId, outcome, isStored = false }: TicketOutcome,
): Promise<IntentOutcome> {
  const { conversationId, deliveryStatus = DeliveryStatus.NONE } = outcome;
  if (!isStored || conversationId === undefined || deliveryStatus === DeliveryStatus.NONE) return outcome;
  try {
    const { ticket } = await tickets.read(call, ticketId);
    const current = ticket.intents.find((one) => one.outcome?.conversationId === conversationId)?.outcome;
    return current?.deliveryStatus === undefined ? outcome : { ...outcome, deliveryStatus: current.deliveryStatus };
  } catch (error) {
    log.info({ err: error, ticketId }, 'an outcome is shown without the current state of its message');
    return outcome;
  }
}

async function execute(
  context: ExecutionContext,
  call: Call,
  request: ExecuteIntentRequest,
  existing: IntentState | undefined,
): Promise<TicketOutcome> {
  let intent = existing;
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const outcome = intent && findOutcome(intent);
    if (intent && outcome) return { ticketId: intent.ticketId, outcome, isStored: true };
    if (intent?.execution) {
      const awaited = await awaitExecution(context, intent.id, intent.execution.txId);
      if (awaited) return { ticketId: intent.ticketId, outcome: awaited };
    } else {
      const plan = await planExecution(context, call, request, intent);
      requireReachable(plan);
      intent ??= await createIntent(context, call, plan.intent);
      const own = await beginExecution(context, call, { ...plan, intent });
      if (own) return { ticketId: intent.ticketId, outcome: own };
    }
    intent = await context.intents.find(intent.id);
    if (!intent) throw notFound('Intent');
  }
  throw runningElsewhere();
}

async function simulate(
  context: ExecutionContext,
  call: Call,
  request: ExecuteIntentRequest,
  intent: IntentState | undefined,
): Promise<TicketOutcome> {
  const outcome = intent && findOutcome(intent);
  if (intent && outcome) return { ticketId: intent.ticketId, outcome, isStored: true };
  if (intent?.execution) throw runningElsewhere();
  const plan = await planExecution(context, call, request, intent);
  const { id: intentId, ticketId } = plan.intent;
  const simulated = await simulateExecution(context, call, plan);
  const { txId, responseCode } = simulated;
  context.log.info({ txId, intentId, ticketId, responseCode }, 'execution simulated');
  return { ticketId, outcome: simulated };
}

/**
 * Claims the intent of a plan and executes it. Undefined if another call was first.
 *
 * Errors: those of `runExecution`.
 */
export async function beginExecution(
  context: ExecutionContext,
  { trace }: Pick<Actor, 'trace'>,
  { intent, agent, ticket, execution }: ExecutionPlan,
): Promise<IntentOutcome | undefined> {
  const { executor } = agent;
  const callBackend =
    executor.type === 'http' ? context.backend.prepare({ agent, executor, intent, ticket, execution }) : undefined;
  const claimed = await context.executions.begin(intent.id, execution);
  if (!claimed) return undefined;
  return (await runExecution(context, claimed, { trace, callBackend })) ?? undefined;
}

/**
 * Finds the intent that an earlier attempt of this request has created. It is looked for before anything is checked,
 * because its execution may have called a backend: a refusal would forget the key, and the next attempt would call it
 * again.
 */
async function findReserved({ intents }: ExecutionContext, { idempotency }: Call): Promise<IntentState | undefined> {
  const id = idempotency?.reserved('intent');
  return id === undefined ? undefined : await intents.find(id);
}

/** Creates the intent of a plan, once for an idempotency key. Errors: ticket_not_found. */
async function createIntent({ intents }: ExecutionContext, call: Call, intent: IntentState): Promise<IntentState> {
  const id = call.idempotency ? await call.idempotency.reserve('intent', intents.nextId) : await intents.nextId();
  const created = await intents.add({ ...intent, id });
  if (!created) throw notFound('Ticket');
  return created;
}

/** Finds the outcome of an intent that was executed; undefined if it can be executed. Errors: intent_invalidated. */
function findOutcome({ status, outcome, execution }: IntentState): IntentOutcome | undefined {
  if (status === TicketIntentStatus.INVALIDATED) {
    throw new DomainError('failed_precondition', 'intent_invalidated', 'The intent no longer applies to the ticket.');
  }
  return status === TicketIntentStatus.EXECUTED && execution === null ? (outcome ?? undefined) : undefined;
}

/**
 * Waits for the outcome of an execution that another call has begun, and finishes it if its process has died. Undefined
 * if the intent can be executed again, and has no outcome of that execution.
 *
 * Errors: intent_running; intent_not_found, if the intent is deleted meanwhile; those of `runExecution`.
 */
async function awaitExecution(context: ExecutionContext, id: number, txId: string): Promise<IntentOutcome | undefined> {
  const { intents, executions, runtime } = context;
  const until = runtime.monotonicMs() + waitMs;
  for (let poll = 0; ; poll += 1) {
    const intent = await intents.find(id);
    if (!intent) throw deletedMeanwhile(txId);
    const outcome = findOutcome(intent);
    if (outcome) return outcome;
    if (!intent.execution) return intent.outcome?.txId === txId ? intent.outcome : undefined;
    if (poll % pollsPerTakeOver === 0) await finishExecution(context, id);
    if (runtime.monotonicMs() > until) throw runningElsewhere();
    await pause(executions.inProgress.get(id));
  }
}

/** Waits for an execution of this process, or for a moment. */
async function pause(own: Promise<unknown> | undefined): Promise<void> {
  if (!own) await setTimeout(pollMs);
  else await Promise.race([own.catch(() => undefined), setTimeout(ownPauseMs)]);
}

function deletedMeanwhile(txId: string): DomainError {
  const title = 'Intent not found';
  const detail = `${title}: it was deleted during its execution ${txId}, which the log names.`;
  return new DomainError('not_found', 'intent_not_found', detail, { title });
}

function runningElsewhere(): DomainError {
  const detail = 'Another call executes this intent.';
  return new DomainError('failed_precondition', 'intent_running', detail, {
    retryAfterSeconds: 1,
    followsChange: true,
  });
}
