import type { JsonObject } from '@bufbuild/protobuf';
import { ContentType } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { type IntentOutcome, TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import { type ExecutionStep, stepAfter } from '../intent/rules/execution.ts';
import type { ExecutionContext } from './open.ts';
import { type Actor, type ExecutionPlan, findReasonNotWritten } from './plan.ts';
import type { ActionResult } from './rules/backend-response.ts';
import { informText, ownResult, toOutcome } from './rules/outcome.ts';
import { readRefusal, shownMessage } from './tickets.ts';

/**
 * Predicts the outcome of a plan: checks each step as far as that writes nothing.
 *
 * Errors: the retryable ones of the tickets and templates services. Source: docs/reference/api.md, Execution of an
 * intent.
 */
export async function simulateExecution(
  context: ExecutionContext,
  actor: Actor,
  plan: ExecutionPlan,
): Promise<IntentOutcome> {
  const { execution, recipients, agent } = plan;
  const { informsCustomer, templateId } = execution;
  const reason = findReasonNotWritten(plan);
  const result = reason === undefined ? await simulateFirst(context, actor, plan) : refused(plan, reason);
  const outcome = toOutcome(result, execution, { aiAgentId: agent.id, now: secondsNow(context.runtime) });
  if (!outcome.success) return outcome;
  const isReply = execution.step === 'reply';
  const isWritten = isReply || informsCustomer;
  const { text: message, type: messageType } = isReply
    ? { text: result.message, type: ContentType.HTML }
    : informText(outcome, execution);
  return {
    ...outcome,
    sent: isWritten,
    ticketClosed: execution.closesTicket || informsCustomer,
    ...(isWritten ? { recipient: recipients.join(', ') } : {}),
    ...(isWritten && message !== null ? { message, messageType } : {}),
    ...(isReply && templateId !== null ? { template: String(templateId) } : {}),
  };
}

async function simulateFirst(context: ExecutionContext, actor: Actor, plan: ExecutionPlan): Promise<ActionResult> {
  const { refusal, details, message = null } = await checkFirst(context, actor, plan);
  if (refusal !== undefined) return refused(plan, refusal);
  return { ...ownResult('success', 'dry_run', { ...planData(plan), ...details }), message };
}

function refused(plan: ExecutionPlan, refusal: string): ActionResult {
  return ownResult('failure', refusal, planData(plan));
}

function planData({ execution: { step, informsCustomer } }: ExecutionPlan): JsonObject {
  return { dryRun: true, steps: listSteps(step, informsCustomer) };
}

/** The result of the check of a step: why it would be refused, or what it would do. */
interface Checked {
  refusal?: string;
  details?: JsonObject;
  /** The reply. */
  message?: string;
}

async function checkFirst(context: ExecutionContext, actor: Actor, plan: ExecutionPlan): Promise<Checked> {
  try {
    switch (plan.execution.step) {
      case 'call':
        return checkCall(context, plan);
      case 'reply':
        return await renderReply(context, actor, plan);
      default:
        await validateChange(context, actor, plan);
        return {};
    }
  } catch (error) {
    const refusal = readRefusal(error);
    if (refusal === undefined) throw error;
    return { refusal };
  }
}

function checkCall({ backend }: ExecutionContext, { agent }: ExecutionPlan): Checked {
  if (agent.executor.type !== 'http') throw new Error('only an HTTP executor calls a backend system');
  const { method, url } = agent.executor;
  const problem = backend.checkUrl(url);
  // The query is left out, because it can hold a secret.
  return problem ? { refusal: problem.code } : { details: { method, url: url.replace(/[?#].*$/s, '') } };
}

async function renderReply(
  { prepareReply }: ExecutionContext,
  { trace, signal, caller }: Actor,
  { execution, ...answered }: ExecutionPlan,
): Promise<Checked> {
  const { templateId, data } = execution;
  if (templateId === null) return { refusal: 'unknown_template' };
  const render = await prepareReply({ trace, signal, ...(caller ? { caller } : {}) }, answered);
  return { message: shownMessage(await render(templateId, data)) };
}

async function validateChange(
  context: ExecutionContext,
  actor: Actor,
  { intent, execution }: ExecutionPlan,
): Promise<void> {
  const after = { ...intent, status: TicketIntentStatus.EXECUTED };
  const { txId: id, closesTicket } = execution;
  const record = { id, execution, changesTicket: true, closesTicket, validateOnly: true };
  await context.tickets.recordExecution(actor, after, record);
}

function listSteps(first: ExecutionStep, informsCustomer: boolean): ExecutionStep[] {
  const steps: ExecutionStep[] = [];
  for (let step: ExecutionStep | undefined = first; step; step = stepAfter(step, informsCustomer)) steps.push(step);
  return steps;
}
