import type {
  ListSessionsRequest,
  ListSessionsResponse,
} from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey, hasRight } from '@ticketing/service-kit/identity/caller.ts';
import { isLargePage, requirePageSize } from '@ticketing/store/paging/page-budget.ts';
import type { SessionContext } from './open.ts';
import { toProto } from './rules.ts';

/**
 * Lists the sessions of a ticket, or all, the latest activity first.
 *
 * Errors: page_too_large, too_much_at_once. Source: docs/reference/api.md, Sessions.
 */
export async function listSessions(
  { sessions, pages }: SessionContext,
  call: Call,
  { ticketId, limit = 100, offset = 0 }: ListSessionsRequest,
): Promise<ListSessionsResponse> {
  const { total, entries } = await sessions.list(ticketId, offset, limit);
  const sizes = entries.map(({ bytes }) => bytes);
  requirePageSize(sizes);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  await pages.take(callerKey(call.caller), bytes, call);
  const listed = await sessions.findSome(entries.map(({ id }) => id));
  const seesPerformance = hasRight(call.caller, 'reportAiPerformance');
  const response: ListSessionsResponse = {
    $typeName: 'ticketing.intents.v1.ListSessionsResponse',
    sessions: listed.map((session) => toProto(session, seesPerformance)),
    total,
    offset,
    limit,
  };
  return isLargePage(sizes) ? markAsLarge(response) : response;
}
