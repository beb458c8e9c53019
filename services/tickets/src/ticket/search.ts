import { TicketScope } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type {
  SearchTicketsRequest,
  SearchTicketsResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import { readFilters } from '@ticketing/rest/codec/filter.ts';
import { readOrder } from '@ticketing/rest/codec/read-order.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { allOf } from '@ticketing/store/document/field-query.ts';
import { isLargePage, requirePageSize } from '@ticketing/store/paging/page-budget.ts';
import type { Context } from '../context.ts';
import type { TagTree } from '../tag/rules/tree.ts';
import { tagMessages, tagSize } from '../tag/to-proto.ts';
import { filterKeys, orderKeys } from './rules/keys.ts';
import { compileConditions } from './store/filter-query.ts';
import type { Page } from './store/list-store.ts';
import { scopeQueries } from './store/scope-query.ts';
import { compactTickets } from './to-proto.ts';

const defaultLimit = 100;

/**
 * Finds tickets, in compact form.
 *
 * Errors: invalid_filter, invalid_cursor, not_allowed; page_too_large, too_much_at_once; search_too_slow.
 * Source: docs/reference/api.md, Searching tickets; docs/reference/api.md, Filters; docs/reference/api.md, Order and
 * pages.
 */
export function searchTickets(
  context: Context,
  call: Call,
  request: SearchTicketsRequest,
): Promise<SearchTicketsResponse> {
  return context.searches.run(callerKey(call.caller), async () => {
    call.signal.throwIfAborted();
    return search(context, call, request);
  });
}

async function search(context: Context, call: Call, request: SearchTicketsRequest): Promise<SearchTicketsResponse> {
  const conditions = readFilters(request.filters, filterKeys, 't.');
  const order = readOrder(request, orderKeys, { key: 't.id', prefix: 't.' });
  const isSkillScope = request.ticketScope === TicketScope.SKILLS;
  const { profileId, skills } = call.caller;
  const boundTo = [conditions, order, isSkillScope ? [profileId, skills] : null];
  if (request.cursor !== undefined && request.offset !== undefined) {
    throw invalidInput([{ pointer: '#/offset', code: 'not_allowed', detail: 'cannot be combined with a cursor' }]);
  }
  const cursor = request.cursor === undefined ? undefined : context.cursors.read(request.cursor, boundTo);
  const now = cursor?.now ?? context.now();
  const limit = request.limit ?? defaultLimit;
  const offset = cursor?.offset ?? request.offset ?? 0;
  const conditionQueries = compileConditions(conditions, now);
  const { spamDetectionTagId } = await context.settings();
  // Tags that decide which tickets match must be current; tags that are only shown may be old.
  const tags = isSkillScope ? context.tags.tree() : context.tags.recentTree();
  const scope = isSkillScope ? scopeQueries(call.caller, await tags, spamDetectionTagId) : [];
  const query = allOf([...conditionQueries, ...scope]);
  const [tree, page] = await Promise.all([
    tags,
    context.ticketLists.page({
      query,
      order,
      now,
      limit,
      offset: cursor ? 0 : offset,
      after: cursor,
      withRawData: request.includeRawData ?? false,
      tagBytes: async () => {
        const read = await tags;
        return (tagIds) => sizeOfTags(tagIds, read);
      },
      isEncodedAtOnce: call.api === 'rpc',
      signal: call.signal,
      take: (bytes) => context.pages.take(callerKey(call.caller), bytes, call),
    }),
  ]);
  const counted = { query, conditions, isUnscoped: scope.length === 0 };
  const total = cursor?.total ?? totalOf(page, offset) ?? (await context.ticketCounts.count(counted));
  const stored = page.tickets();
  const sizes = stored.map(
    ({ ticket }, nth) => (page.sizes[nth] ?? 0) + sizeOfTags([...ticket.tagIds, ...ticket.customerTagIds], tree),
  );
  requirePageSize(sizes);
  const isLarge = isLargePage(sizes);
  const options = { caller: call.caller, withRawData: request.includeRawData ?? false, tree, isLarge };
  const end = page.end && { now, total, offset: offset + page.count, ...page.end };
  const response: SearchTicketsResponse = {
    $typeName: 'ticketing.tickets.v1.SearchTicketsResponse',
    tickets: await compactTickets(context, stored, options),
    total,
    offset,
    limit,
    ...(end ? { nextCursor: context.cursors.write(end, boundTo) } : {}),
  };
  return isLarge ? markAsLarge(response) : response;
}

/** The number of tickets of a list, if its first or last page shows it: undefined if not. */
function totalOf({ count, end }: Page, offset: number): number | undefined {
  return !end && (count > 0 || offset === 0) ? offset + count : undefined;
}

/** The tags of a ticket are not stored with it, but are part of its message. */
function sizeOfTags(tagIds: readonly number[], tree: TagTree): number {
  return tagMessages(tagIds, tree).reduce((sum, tag) => sum + tagSize(tag), 0);
}
