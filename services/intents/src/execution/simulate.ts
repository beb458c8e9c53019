import type { JsonObject } from '@bufbuild/protobuf';
import { type IntentOutcome, TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import { type ExecutionStep, stepAfter } from '../intent/rules/execution.ts';
import type { ExecutionContext } from './open.ts';
import type { Actor, ExecutionPlan } from './plan.ts';
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
  const result = await simulateFirst(context, actor, plan);
  const outcome = toOutcome(result, execution, { aiAgentId: agent.id, now: secondsNow(context.runtime) });
  if (!outcome.success) return outcome;
  const isReply = execution.step === 'reply';
  const isWritten = isReply || informsCustomer;
  const message = isReply ? result.message : informText(outcome, execution);
  return {
    ...outcome,
    sent: isWritten,
    ticketClosed: execution.closesTicket || informsCustomer,
    ...(isWritten ? { recipient: recipients.join(', ') } : {}),
    ...(isWritten && message !== null ? { message } : {}),
    ...(isReply && templateId !== null ? { template: String(templateId) } : {}),
  };
}

async function simulateFirst(context: ExecutionContext, actor: Actor, plan: ExecutionPlan): Promise<ActionResult> {
  const { execution } = plan;
  const steps = listSteps(execution.step, execution.informsCustomer);
  const success = (details: JsonObject = {}) => ownResult('success', 'dry_run', { dryRun: true, steps, ...details });
  const failure = (reason: string) => ownResult('failure', reason, { dryRun: true, steps });
  try {
    switch (execution.step) {
      case 'call':
        return simulateCall(context, plan, { success, failure });
      case 'reply':
        return await simulateReply(context, actor, plan, { success, failure });
      default:
        await validateChange(context, actor, plan);
        return success();
    }
  } catch (error) {
    const refusal = readRefusal(error);
    if (refusal === undefined) throw error;
    return failure(refusal);
  }
}

/** Makes the results of a simulation. */
interface Results {
  success(details?: JsonObject): ActionResult;
  failure(reason: string): ActionResult;
}

function simulateCall(
  { backend }: ExecutionContext,
  { agent }: ExecutionPlan,
  { success, failure }: Results,
): ActionResult {
  if (agent.executor.type !== 'http') throw new Error('only an HTTP executor calls a backend system');
  const { method, url } = agent.executor;
  const problem = backend.checkUrl(url);
  // Without its query, which can hold a secret.
  return problem ? failure(problem.code) : success({ method, url: url.replace(/[?#].*$/s, '') });
}

async function simulateReply(
  context: ExecutionContext,
  { trace, signal, caller }: Actor,
  { ticket, execution }: ExecutionPlan,
  { success, failure }: Results,
): Promise<ActionResult> {
  const { templateId, data } = execution;
  if (templateId === null) return failure('unknown_template');
  const call = { trace, signal, ...(caller ? { caller } : {}) };
  const render = await context.prepareReply(call, ticket);
  return { ...success(), message: shownMessage(await render(templateId, data)) };
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
