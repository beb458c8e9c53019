import type { AssistantSession, SessionParticipant } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';

/** A stored conversation of people with the AI assistant. */
export interface SessionState {
  /** A UUID in lower case. */
  id: string;
  ticketId: number | null;
  /** Unix milliseconds. */
  lastActivityAt: number;
  /** Unix milliseconds. */
  createdAt: number;
  participants: readonly { id: number; name: string | null }[];
  messageCount: number;
  costUsd: number | null;
  model: string | null;
}

/** Converts a session to protobuf. Omits cost and model for callers without the right. */
export function toProto(state: SessionState, seesPerformance: boolean): AssistantSession {
  const { ticketId, costUsd, model } = state;
  return {
    $typeName: 'ticketing.tickets.v1.AssistantSession',
    id: state.id,
    ...(ticketId === null ? {} : { ticketId }),
    lastActivityAt: fromMilliseconds(state.lastActivityAt),
    createdAt: fromMilliseconds(state.createdAt),
    participants: state.participants.map(
      ({ id, name }): SessionParticipant => ({
        $typeName: 'ticketing.tickets.v1.SessionParticipant',
        id,
        ...(name === null ? {} : { name }),
      }),
    ),
    messageCount: state.messageCount,
    ...(seesPerformance && costUsd !== null ? { costUsd } : {}),
    ...(seesPerformance && model !== null ? { model } : {}),
  };
}

function fromMilliseconds(milliseconds: number) {
  return toTimestamp(Math.floor(milliseconds / 1000));
}
