import type {
  ListSessionsRequest,
  ListSessionsResponse,
} from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey, hasRight } from '@ticketing/service-kit/identity/caller.ts';
import { isLargePage, requirePageSize } from '@ticketing/store/paging/page-budget.ts';
import type { SessionContext } from './open.ts';
import { type SessionState, toProto } from './rules.ts';

/** So many sessions are a small page, whatever their sizes: each has 130 KB at most. */
const fewSessions = 7;

/**
 * Lists the sessions of a ticket, or all, the latest activity first. Those of a ticket with few are one read.
 *
 * Errors: page_too_large, too_much_at_once. Source: docs/reference/api.md, Sessions.
 */
export async function listSessions(
  context: SessionContext,
  call: Call,
  { ticketId, limit = 100, offset = 0 }: ListSessionsRequest,
): Promise<ListSessionsResponse> {
  const few = ticketId === undefined ? undefined : await context.sessions.few(ticketId, fewSessions);
  const { sessions, total, isLarge } = few
    ? { sessions: few.slice(offset, offset + limit), total: few.length, isLarge: false }
    : await readPage(context, call, { ticketId, limit, offset });
  const seesPerformance = hasRight(call.caller, 'reportAiPerformance');
  const response: ListSessionsResponse = {
    $typeName: 'ticketing.intents.v1.ListSessionsResponse',
    sessions: sessions.map((session) => toProto(session, seesPerformance)),
    total,
    offset,
    limit,
  };
  return isLarge ? markAsLarge(response) : response;
}

/** Reads a page of sessions, after it is known that there is room for it. */
async function readPage(
  { sessions, pages }: SessionContext,
  call: Call,
  { ticketId, limit, offset }: { ticketId: number | undefined; limit: number; offset: number },
): Promise<{ sessions: SessionState[]; total: number; isLarge: boolean }> {
  const { total, entries } = await sessions.list(ticketId, offset, limit);
  const sizes = entries.map(({ bytes }) => bytes);
  requirePageSize(sizes);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  await pages.take(callerKey(call.caller), bytes, call);
  return { sessions: await sessions.findSome(entries.map(({ id }) => id)), total, isLarge: isLargePage(sizes) };
}
