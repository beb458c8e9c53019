import type { Logger } from '@ticketing/runtime/logger.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { ErasedIds } from '@ticketing/store/ids/erased-ids.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import { type SecretBox, secretBox } from '@ticketing/text/sealed-text.ts';
import { type CalledServices, openReferenceCheck, type RequireReferences } from './require-references.ts';
import { type AiAgentStore, aiAgentStore } from './store.ts';

/** The dependencies of the handlers of AI agents. */
export interface AgentContext {
  agents: AiAgentStore;
  deleted: DeletedReferences;
  requireReferences: RequireReferences;
  secretBox: SecretBox;
  pages: PageBudget;
  log: Logger;
  /** Unix seconds. */
  now(): number;
}

/** The ids of deleted AI agents, and of deleted objects that AI agents name. */
export type DeletedReferences = Readonly<Record<'agents' | 'tags' | 'templates', ErasedIds>>;

/** Opens the AI agents. */
export function openAgents(
  {
    config,
    database,
    outbound,
    pages,
    runtime,
    log,
  }: Pick<Kit<unknown, unknown>, 'config' | 'database' | 'outbound' | 'pages' | 'runtime' | 'log'>,
  clients: Omit<CalledServices, 'outbound'>,
  deleted: DeletedReferences,
): AgentContext {
  return {
    agents: aiAgentStore(database.connection, runtime),
    deleted,
    requireReferences: openReferenceCheck({ ...clients, outbound }),
    secretBox: secretBox(config.encryptionKeys, runtime),
    pages,
    log,
    now: () => secondsNow(runtime),
  };
}
