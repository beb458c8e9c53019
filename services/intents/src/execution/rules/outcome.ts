import { create } from '@bufbuild/protobuf';
import { type IntentOutcome, IntentOutcomeSchema } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { timestampOf } from '@ticketing/rest/codec/date-time.ts';
import type { ExecutionState } from '../../intent/rules/execution.ts';
import type { ActionResult } from './backend-response.ts';

/**
 * The outcome of an execution, before the customer is informed and the ticket is closed. Units: `now` in Unix seconds.
 */
export function outcomeOf(
  result: ActionResult,
  { txId, caller }: Pick<ExecutionState, 'txId' | 'caller'>,
  { aiAgentId, now }: { aiAgentId: number; now: number },
): IntentOutcome {
  const { kind, responseCode, messageLocalized, message, internalData } = result;
  return create(IntentOutcomeSchema, {
    responseCode,
    aiAgentId,
    success: kind === 'success',
    ...(messageLocalized === null ? {} : { messageLocalized }),
    ...(message === null ? {} : { message }),
    internalData,
    executedAt: timestampOf(now),
    userId: caller?.profileId ?? 0,
    txId,
  });
}

/** The result of an action that this system does itself. */
export function ownResult(kind: 'success' | 'failure', responseCode: string, internalData = {}): ActionResult {
  return { kind, responseCode, messageLocalized: null, message: null, internalData };
}
