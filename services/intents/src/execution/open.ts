import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { SecretBox } from '@ticketing/text/sealed-text.ts';
import type { AiAgentStore } from '../agent/store.ts';
import { openReplies, type PrepareReply, type ReplyServices } from '../intent/reply.ts';
import type { IntentStore } from '../intent/store.ts';
import { type Backend, openBackend } from './backend.ts';
import type { RunContext } from './run.ts';
import { executionStore } from './store.ts';
import { openTicketCalls, type TicketServices } from './tickets.ts';

/** The dependencies of executions. */
export interface ExecutionContext extends RunContext {
  agents: Pick<AiAgentStore, 'find' | 'findBySlug'>;
  intents: IntentStore;
  backend: Backend;
  prepareReply: PrepareReply;
  runtime: Runtime;
  log: Logger;
}

/** The parts of other features that executions use. */
export interface ExecutionParts {
  agents: AiAgentStore;
  secretBox: SecretBox;
  intents: IntentStore;
}

/** Opens the executions. This process ends the ones that it runs before it stops. */
export function openExecution(
  {
    database,
    outbound,
    runtime,
    log,
    onClose,
  }: Pick<Kit<unknown, unknown>, 'database' | 'outbound' | 'runtime' | 'log' | 'onClose'>,
  clients: TicketServices & ReplyServices,
  { agents, secretBox, intents }: ExecutionParts,
): ExecutionContext {
  const inProgress = new Map<number, Promise<unknown>>();
  onClose(async () => {
    await Promise.allSettled(inProgress.values());
  });
  return {
    agents,
    intents,
    executions: { ...executionStore(database.connection), inProgress },
    tickets: openTicketCalls(clients, intents),
    backend: openBackend({ outbound, secretBox, runtime, log }),
    prepareReply: openReplies(clients),
    runtime,
    log,
  };
}
