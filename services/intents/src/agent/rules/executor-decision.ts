import type { AiExecutor } from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import type { Violation } from '@ticketing/errors/domain-error.ts';

/** A decision, which holds only if there are no violations. */
export interface Decided<State> {
  state: State;
  violations: readonly Violation[];
}

/** A member of an executor beside its type. */
export type ExecutorMember = Exclude<keyof AiExecutor, '$typeName' | '$unknown' | 'type'>;

/** The violation for a missing member that the executor's type requires. */
export function missing(member: ExecutorMember): Violation {
  return { pointer: `#/executor/${member}`, code: 'required', detail: 'is required for this type' };
}
