import type { JsonObject } from '@bufbuild/protobuf';
import {
  type ConfidenceColor,
  type IntentOutcome,
  type TicketIntent,
  TicketIntentStatus,
} from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import type { OptionState } from '../../agent/rules/agent.ts';
import type { ExecutionState } from './execution.ts';

/** A proposal of an AI agent for a ticket. */
export interface IntentProposal {
  aiAgentId: number;
  /** The slug of the AI agent. */
  code: string;
  name: string;
  contractId: string | null;
  /** From 0 to 1. */
  confidence: number | null;
  confidenceColor: ConfidenceColor;
  messagePreview: string | null;
  recipient: string | null;
  data: JsonObject | null;
  options: readonly OptionState[];
  infos: readonly InfoState[];
  /** The time at which the system executes it (Unix seconds); null: never. */
  autoExecuteAt: number | null;
}

/** Information for the agent about an intent. */
export interface InfoState {
  type: string;
  message: string;
  extraInfo: string | null;
}

/** A stored intent. */
export interface IntentState extends IntentProposal {
  id: number;
  ticketId: number;
  verified: boolean;
  status: TicketIntentStatus;
  outcome: IntentOutcome | null;
  proposedBy: 'analysis' | 'request';
  /** The execution that is running; its status is `ready` until the outcome is known. */
  execution: ExecutionState | null;
}

/** Converts an intent to protobuf, for its ticket. */
export function intentToProto(state: IntentState): TicketIntent {
  const { contractId, confidence, messagePreview, recipient, data, outcome } = state;
  return {
    $typeName: 'ticketing.tickets.v1.TicketIntent',
    id: state.id,
    ticketId: state.ticketId,
    aiAgentId: state.aiAgentId,
    code: state.code,
    name: state.name,
    confidenceColor: state.confidenceColor,
    verified: state.verified,
    status: state.status,
    ...(contractId === null ? {} : { contractId }),
    ...(confidence === null ? {} : { confidence }),
    ...(messagePreview === null ? {} : { messagePreview }),
    ...(recipient === null ? {} : { recipient }),
    ...(data === null ? {} : { data }),
    options: state.options.map(({ icon, ...option }) => ({
      ...option,
      $typeName: 'ticketing.tickets.v1.IntentOption',
      ...(icon === null ? {} : { icon }),
    })),
    infos: state.infos.map(({ extraInfo, ...info }) => ({
      ...info,
      $typeName: 'ticketing.tickets.v1.IntentInfo',
      ...(extraInfo === null ? {} : { extraInfo }),
    })),
    ...(outcome === null ? {} : { outcome }),
  };
}

/** Recipients as an intent shows them; null for none. */
export function recipientText(recipients: readonly string[]): string | null {
  return recipients.length === 0 ? null : recipients.join(', ');
}

/**
 * Returns the earliest time at which the system executes one of the intents (Unix seconds); null if it executes none.
 * Running executions do not count: otherwise two at once would each leave the time of the other one in the ticket.
 */
export function nextAutoExecution(intents: readonly IntentState[]): number | null {
  const times = intents.flatMap(({ status, execution, autoExecuteAt }) =>
    status === TicketIntentStatus.READY && execution === null && autoExecuteAt !== null ? [autoExecuteAt] : [],
  );
  return times.length === 0 ? null : Math.min(...times);
}
