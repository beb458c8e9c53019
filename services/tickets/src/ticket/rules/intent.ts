import type { DeliveryStatus } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { type ConfidenceColor, TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';

/** The part of an intent that a ticket keeps. The service that owns intents sends it again whenever it changes. */
export interface IntentState {
  id: number;
  aiAgentId: number;
  code: string;
  name: string;
  contractId: string | null;
  confidence: number | null;
  confidenceColor: ConfidenceColor;
  verified: boolean;
  status: TicketIntentStatus;
  messagePreview: string | null;
  recipient: string | null;
  /** As JSON text; null without data. */
  data: string | null;
  options: readonly { type: string; name: string; icon: string | null; recommended: boolean; order: number }[];
  infos: readonly { type: string; message: string; extraInfo: string | null }[];
  /** As JSON text; null before an execution. */
  outcome: string | null;
  /** The part of it about its message, as JSON text. */
  outcomeMessage?: string;
}

/** The state of a message of an execution, and the number of its changes. */
export interface MessageDelivery {
  status: DeliveryStatus;
  revision: number;
}

/**
 * The intents after a change: the same list if none differs, so that nothing counts as changed. An executed intent
 * stays executed: the list may have been read before the execution, and arrive after it.
 */
export function changedIntents(before: readonly IntentState[], read: readonly IntentState[]): readonly IntentState[] {
  const executed = new Map(before.flatMap((intent) => (isExecuted(intent) ? [[intent.id, intent]] : [])));
  const after = read.map((intent) => {
    const known = executed.get(intent.id);
    if (!isExecuted(intent)) return known ?? intent;
    // A process of an earlier version does not know the rest of the outcome.
    return intent.outcomeMessage === undefined && intent.outcome === known?.outcome ? known : intent;
  });
  return JSON.stringify(before) === JSON.stringify(after) ? before : after;
}

/** Whether an intent was executed, and so has an outcome that is final. */
export function isExecuted({ status }: IntentState): boolean {
  return status === TicketIntentStatus.EXECUTED;
}

/** The ids of the AI agents that propose something, each once. */
export function listAgents(intents: readonly IntentState[]): number[] {
  return [...new Set(intents.map(({ aiAgentId }) => aiAgentId))].sort((left, right) => left - right);
}
