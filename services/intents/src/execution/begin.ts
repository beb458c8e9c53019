import type { IntentOutcome } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import type { Context } from '../context.ts';
import { prepareCall } from './backend.ts';
import type { ExecutionPlan, Executor } from './plan.ts';
import { runExecution } from './run.ts';

/**
 * Claims the intent of a plan and executes it. Undefined if another call was first.
 *
 * Errors: those of `runExecution`.
 */
export async function beginExecution(
  context: Context,
  { trace }: Pick<Executor, 'trace'>,
  { intent, agent, ticket, execution }: ExecutionPlan,
): Promise<IntentOutcome | undefined> {
  const { executor } = agent;
  const callBackend =
    executor.type === 'http' ? prepareCall(context, { agent, executor, intent, ticket, execution }) : undefined;
  const claimed = await context.executions.begin(intent.id, execution);
  if (!claimed) return undefined;
  const outcome = await runExecution(context, claimed, { trace, ...(callBackend ? { callBackend } : {}) });
  return outcome ?? undefined;
}
