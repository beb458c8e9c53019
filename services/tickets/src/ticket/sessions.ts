import type { Client } from '@connectrpc/connect';
import type { SessionService } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import type {
  NoteSessionsRequest,
  NoteSessionsResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import type { AssistantSession, AssistantSessions } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { StoredTicket } from './store/document.ts';
import type { TicketStore } from './store/store.ts';

/** The assistant sessions, which the intents service keeps. */
export interface Sessions {
  /**
   * Reads the last 100 sessions of a ticket, as the caller may see them. Undefined while the intents service is unavailable.
   */
  ofTicket(call: SessionCall, ticketId: number): Promise<AssistantSession[] | undefined>;
}

type SessionCall = Pick<Call, 'caller' | 'trace' | 'signal' | 'log'>;

/** How long a read of a ticket waits for sessions, which it can do without. */
export const sessionsTimeoutMs = 500;
/** For how long they are not asked for again after a failure, so that not every read waits. */
const pauseMs = 1_000;
const maxSessions = 100;
/** A session has 100 participants at most, whose names have 320 characters. */
export const maxSessionBytes = 16 * 1024 * 1024;

/** Opens the sessions. `now` is a clock that never goes back. Units: ms. */
export function openSessions(
  client: (call: OnBehalfOf) => Pick<Client<typeof SessionService>, 'listSessions'>,
  now: () => number = () => performance.now(),
): Sessions {
  let pausedUntil = Number.NEGATIVE_INFINITY;
  return {
    async ofTicket({ caller, trace, signal, log }, ticketId) {
      if (now() < pausedUntil) return undefined;
      try {
        const request = { ticketId, limit: maxSessions };
        return (await client({ caller, trace, signal }).listSessions(request)).sessions;
      } catch (error) {
        signal.throwIfAborted();
        pausedUntil = now() + pauseMs;
        log.warn({ err: error }, 'the sessions of a ticket cannot be read; none are shown');
        return undefined;
      }
    },
  };
}

/**
 * Reads the sessions of a ticket, if it may have some. None while the intents service is unavailable: a read of a ticket
 * does not wait for it.
 */
export async function readSessions(
  tickets: Pick<TicketStore, 'noteNoSessions'>,
  sessions: Sessions,
  call: SessionCall,
  { ticket, hasSessions }: StoredTicket,
): Promise<AssistantSessions> {
  const items = hasSessions === false ? [] : await sessions.ofTicket(call, ticket.id);
  if (items?.length === 0 && hasSessions === undefined) {
    // The read does not wait for it, nor fail with it.
    tickets
      .noteNoSessions(ticket.id)
      .catch((error: unknown) => call.log.warn({ err: error }, 'that a ticket has no sessions was not noted'));
  }
  return { $typeName: 'ticketing.tickets.v1.AssistantSessions', items: items ?? [] };
}

/** Notes that tickets have sessions. Errors: store_unavailable. Source: docs/reference/api.md, Sessions. */
export async function noteSessions(
  { tickets }: { tickets: Pick<TicketStore, 'noteSessions'> },
  _call: Call,
  { ticketIds }: NoteSessionsRequest,
): Promise<NoteSessionsResponse> {
  return {
    $typeName: 'ticketing.tickets.v1.NoteSessionsResponse',
    ticketIds: await tickets.noteSessions(ticketIds),
  };
}
