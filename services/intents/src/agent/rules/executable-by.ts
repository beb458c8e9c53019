import type { ExecutorState } from './executor.ts';

/** The callers that may execute the intents of an AI agent. */
export interface ExecutableByState {
  /** Kinds of profiles; empty means the default of the executor's type. */
  kinds: readonly string[];
  /** The right that is needed; null for none. */
  permission: string | null;
}

/** An AI agent that anybody may execute, as far as its executor allows. */
export const executableByDefault: ExecutableByState = { kinds: [], permission: null };

/** The part of an AI agent that decides about an execution. */
export interface Executable {
  enabled: boolean;
  executor: Pick<ExecutorState, 'type'>;
  executableBy: ExecutableByState;
  allowClosed: boolean | null;
}

/** Whether an AI agent is executed for closed tickets: by default unless it calls a backend system. */
export function allowsClosed({ executor, allowClosed }: Pick<Executable, 'executor' | 'allowClosed'>): boolean {
  return allowClosed ?? executor.type !== 'http';
}
