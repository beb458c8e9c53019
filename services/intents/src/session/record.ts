import { timestampMs } from '@bufbuild/protobuf/wkt';
import type {
  RecordSessionRequest,
  RecordSessionResponse,
} from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { hasRight } from '@ticketing/service-kit/identity/caller.ts';
import type { SessionContext } from './open.ts';
import { type SessionState, toProto } from './rules.ts';

/**
 * Records a session, or its changes.
 *
 * Errors: unknown_ticket, session_of_another_ticket; those of the tickets service.
 * Source: docs/reference/api.md, Sessions.
 */
export async function recordSession(
  context: SessionContext,
  call: Call,
  request: RecordSessionRequest,
): Promise<RecordSessionResponse> {
  const session = fromProto(request);
  const { ticketId } = session;
  // Before the session is stored, so that no session is missing in its ticket, whatever happens in between.
  if (ticketId !== null && !(await noteSession(context, call, ticketId))) throw unknownTicket();
  const recorded = await context.sessions.record(session);
  if (!recorded) throw unknownTicket();
  if (recorded.ticketId !== ticketId) {
    const detail = 'The session was recorded for another ticket.';
    throw new DomainError('failed_precondition', 'session_of_another_ticket', detail);
  }
  return {
    $typeName: 'ticketing.intents.v1.RecordSessionResponse',
    session: toProto(recorded, hasRight(call.caller, 'reportAiPerformance')),
  };
}

function fromProto(request: RecordSessionRequest): SessionState {
  const { ticketId = null, participants, messageCount, costUsd = null, model = null } = request;
  return {
    id: request.id.toLowerCase(),
    ticketId,
    lastActivityAt: request.lastActivityAt ? timestampMs(request.lastActivityAt) : 0,
    createdAt: request.createdAt ? timestampMs(request.createdAt) : 0,
    participants: participants.map(({ id, name = null }) => ({ id, name })),
    messageCount,
    costUsd,
    model,
  };
}

/** Notes that a ticket has sessions. Returns whether it exists. */
async function noteSession({ tickets }: SessionContext, { trace, signal }: Call, ticketId: number): Promise<boolean> {
  // Called without the caller's identity, because only services may call this RPC.
  return (await tickets({ trace, signal }).noteSessions({ ticketIds: [ticketId] })).ticketIds.length > 0;
}

const ticketsAtOnce = 1_000;

/**
 * Notes in the tickets of all sessions that they have some: a process of an earlier version does not, and a backup of the
 * tickets may be older than the sessions.
 */
export async function noteSessionsAgain({ sessions, tickets }: SessionContext): Promise<void> {
  const call = { trace: continueTrace(undefined), signal: new AbortController().signal };
  for (let after = 0; ; ) {
    const ticketIds = await sessions.ticketsAfter(after, ticketsAtOnce);
    const last = ticketIds.at(-1);
    if (last === undefined) return;
    await tickets(call).noteSessions({ ticketIds });
    after = last;
  }
}

function unknownTicket(): DomainError {
  return invalidInput([{ pointer: '#/ticketId', code: 'unknown_ticket', detail: 'There is no such ticket.' }]);
}
