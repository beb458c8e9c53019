import type { Context } from '../context.ts';
import { finishExecution } from './await.ts';

/** Finishes the executions whose process has died or given up. */
export async function finishExecutions(context: Context): Promise<void> {
  for await (const id of context.executions.abandoned()) {
    await finishExecution(context, id).catch((error: unknown) => {
      context.log.warn({ err: error, intentId: id }, 'an execution was not finished, and will be tried again');
    });
  }
}
