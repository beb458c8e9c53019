import { DomainError } from '@ticketing/errors/domain-error.ts';
import { type Caller, hasRight } from '@ticketing/service-kit/identity/caller.ts';
import type { ExecutorState } from './executor.ts';

/** Who may execute the intents of an AI agent. */
export interface ExecutableByState {
  /** Kinds of profiles; empty for those that the type of the executor allows. */
  kinds: readonly string[];
  /** The right that is needed; null for none. */
  permission: string | null;
}

/** An AI agent that anybody may execute, as far as its executor allows. */
export const executableByDefault: ExecutableByState = { kinds: [], permission: null };

/** By default they do not call a backend system. */
const outsiders: readonly string[] = ['vendor', 'vendorPartner'] satisfies Caller['kind'][];

/** What decides about an execution. */
interface Executable {
  enabled: boolean;
  executor: Pick<ExecutorState, 'type'>;
  executableBy: ExecutableByState;
  allowClosed: boolean | null;
}

/**
 * Refuses a caller who may not execute an AI agent, and one that is disabled. `caller` is null for the system.
 *
 * Errors: kind_not_allowed, missing_right; ai_agent_disabled. Source: docs/reference/api.md, AI agents.
 */
export function requireExecutable({ enabled, executor, executableBy }: Executable, caller: Caller | null): void {
  const { kinds, permission } = executableBy;
  if (caller) {
    const { kind } = caller;
    const isAllowed = kinds.length > 0 ? kinds.includes(kind) : executor.type !== 'http' || !outsiders.includes(kind);
    if (!isAllowed) {
      const detail = `Callers of the kind ${kind} may not execute this AI agent.`;
      throw new DomainError('permission_denied', 'kind_not_allowed', detail);
    }
    if (permission !== null && !hasRight(caller, permission)) {
      throw new DomainError('permission_denied', 'missing_right', `The right ${permission} is missing.`);
    }
  }
  if (!enabled) throw new DomainError('failed_precondition', 'ai_agent_disabled', 'The AI agent is disabled.');
}

/** Whether an AI agent is executed for closed tickets: by default unless it calls a backend system. */
export function allowsClosed({ executor, allowClosed }: Pick<Executable, 'executor' | 'allowClosed'>): boolean {
  return allowClosed ?? executor.type !== 'http';
}
