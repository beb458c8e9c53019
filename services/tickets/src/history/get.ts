import type { HistoryEntry } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';
import type {
  GetTicketHistoryRequest,
  GetTicketHistoryResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { KeyedSlots } from '@ticketing/runtime/keyed-slots.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { isLargePage, type PageBudget, requirePageSize } from '@ticketing/store/paging/page-budget.ts';
import type { HistoryKey, HistoryLine } from './rules.ts';
import type { HistoryStore } from './store.ts';

interface HistoryDeps {
  history: HistoryStore;
  pages: PageBudget;
  /** Bounds the searches of each caller. */
  searches: KeyedSlots;
}

const defaultLimit = 100;
/** Up to this many lines never have more bytes than a small page. */
const surelySmall = 20;

/**
 * Lists the history of the customer or contract of a ticket, newest first.
 *
 * Errors: ticket_not_found; page_too_large, too_much_at_once; search_too_slow. Source: docs/reference/api.md, History.
 */
export function getTicketHistory(
  deps: HistoryDeps,
  call: Call,
  request: GetTicketHistoryRequest,
): Promise<GetTicketHistoryResponse> {
  return deps.searches.run(callerKey(call.caller), async () => {
    call.signal.throwIfAborted();
    return readHistory(deps, call, request);
  });
}

async function readHistory(
  deps: HistoryDeps,
  call: Call,
  { ticketId, offset = 0, limit = defaultLimit }: GetTicketHistoryRequest,
): Promise<GetTicketHistoryResponse> {
  const { history } = deps;
  const subject = await history.findSubject(ticketId);
  if (!subject) throw notFound('Ticket');
  const counts = await history.count(subject);
  const keys = await history.page(subject, counts, { skip: offset, limit });
  const isLarge = await takeBytes(deps, call, keys);
  const lines = await history.lines(keys);
  const response: GetTicketHistoryResponse = {
    $typeName: 'ticketing.tickets.v1.GetTicketHistoryResponse',
    success: true,
    total: counts.tickets + counts.entries,
    totalOpenedTickets: counts.openTickets,
    history: lines.map(toProto),
  };
  return isLarge ? markAsLarge(response) : response;
}

/** Takes the bytes of a page before it is read. Returns whether it is large. */
async function takeBytes({ history, pages }: HistoryDeps, call: Call, keys: readonly HistoryKey[]): Promise<boolean> {
  if (keys.length <= surelySmall) return false;
  const sizes = await history.sizes(keys);
  requirePageSize(sizes);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  await pages.take(callerKey(call.caller), bytes, call);
  return isLargePage(sizes);
}

function toProto({ createdAt, ...line }: HistoryLine): HistoryEntry {
  const set = Object.fromEntries(Object.entries(line).filter(([, value]) => value !== null));
  return {
    $typeName: 'ticketing.tickets.v1.HistoryEntry',
    ...(set as Pick<HistoryEntry, 'type'>),
    createdAt: toTimestamp(createdAt),
  };
}
