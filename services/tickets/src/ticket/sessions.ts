import type { Client } from '@connectrpc/connect';
import type { SessionService } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import type { AssistantSessions } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';

/** The assistant sessions, which the intents service keeps. */
export interface Sessions {
  /**
   * Reads the last 100 sessions of a ticket, as the caller may see them. None while the intents service is unavailable: a
   * read of a ticket does not wait for it.
   */
  ofTicket(call: Pick<Call, 'caller' | 'trace' | 'signal' | 'log'>, ticketId: number): Promise<AssistantSessions>;
}

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

  async function read(call: Pick<Call, 'caller' | 'trace' | 'signal' | 'log'>, ticketId: number) {
    if (now() < pausedUntil) return [];
    const { caller, trace, signal, log } = call;
    try {
      const request = { ticketId, limit: maxSessions };
      return (await client({ caller, trace, signal }).listSessions(request)).sessions;
    } catch (error) {
      signal.throwIfAborted();
      pausedUntil = now() + pauseMs;
      log.warn({ err: error }, 'the sessions of a ticket cannot be read; none are shown');
      return [];
    }
  }

  return {
    ofTicket: async (call, ticketId) => ({
      $typeName: 'ticketing.tickets.v1.AssistantSessions',
      items: await read(call, ticketId),
    }),
  };
}
