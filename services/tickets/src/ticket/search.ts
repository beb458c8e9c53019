import { TicketScope } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type {
  SearchTicketsRequest,
  SearchTicketsResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import { type Condition, readFilters } from '@ticketing/rest/codec/filter.ts';
import { readOrder } from '@ticketing/rest/codec/read-order.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { KeyedSlots } from '@ticketing/runtime/keyed-slots.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { combineQueries, type Query } from '@ticketing/store/document/field-query.ts';
import type { CursorCodec } from '@ticketing/store/paging/cursor.ts';
import { isLargePage, type PageBudget, requirePageSize } from '@ticketing/store/paging/page-budget.ts';
import type { ReadSettings } from '../settings.ts';
import type { TagTree } from '../tag/rules.ts';
import type { TagStore } from '../tag/store.ts';
import { tagMessages, tagSize } from '../tag/to-proto.ts';
import { filterKeys, orderKeys } from './rules/keys.ts';
import type { TicketCountStore } from './store/count-store.ts';
import { compileConditions, scopeQueries } from './store/filter-query.ts';
import type { Page, TicketListStore } from './store/list-store.ts';
import type { TicketViews } from './views.ts';

interface SearchTicketsDeps {
  tags: Pick<TagStore, 'tree' | 'recentTree'>;
  settings: ReadSettings;
  /** Bounds the searches of each caller: one whose searches are slow must not use all connections to the database. */
  searches: KeyedSlots;
  cursors: CursorCodec;
  pages: PageBudget;
  lists: { pages: TicketListStore; totals: TicketCountStore };
  views: Pick<TicketViews, 'compact'>;
  runtime: Runtime;
}

const defaultLimit = 100;

/**
 * Finds tickets, in compact form.
 *
 * Errors: invalid_filter, query_without_words, invalid_cursor, not_allowed; page_too_large, too_much_at_once;
 * search_too_slow.
 * Source: docs/reference/api.md, Searching tickets; docs/reference/api.md, Filters; docs/reference/api.md, Order and
 * pages.
 */
export function searchTickets(
  deps: SearchTicketsDeps,
  call: Call,
  request: SearchTicketsRequest,
): Promise<SearchTicketsResponse> {
  return deps.searches.run(callerKey(call.caller), async () => {
    call.signal.throwIfAborted();
    const list = readList(deps, call, request);
    const selection = await select(deps, call, list);
    const [tree, page] = await Promise.all([selection.tags, readPage(deps, call, request, { ...list, ...selection })]);
    const total =
      list.cursor?.total ?? readTotal(page, list.offset) ?? (await deps.lists.totals.count(selection.counted));
    return respond(deps, call, request, { ...list, tree, page, total });
  });
}

/** The list that a request asks for, and where its page begins. */
function readList({ cursors, runtime }: SearchTicketsDeps, { caller }: Call, request: SearchTicketsRequest) {
  const conditions = readFilters(request.filters, filterKeys, 't.');
  const order = readOrder(request, orderKeys, { key: 't.id', prefix: 't.' });
  const isSkillScope = request.ticketScope === TicketScope.SKILLS;
  const boundTo = [conditions, order, isSkillScope ? [caller.profileId, caller.skills] : null];
  if (request.cursor !== undefined && request.offset !== undefined) {
    throw invalidInput([{ pointer: '#/offset', code: 'not_allowed', detail: 'cannot be combined with a cursor' }]);
  }
  const cursor = request.cursor === undefined ? undefined : cursors.read(request.cursor, boundTo);
  return {
    ...{ conditions, order, isSkillScope, boundTo, cursor },
    now: cursor?.now ?? secondsNow(runtime),
    limit: request.limit ?? defaultLimit,
    offset: cursor?.offset ?? request.offset ?? 0,
  };
}

type List = ReturnType<typeof readList>;

/** The query of a list, and the tags for it. */
interface Selection {
  query: Query;
  tags: Promise<TagTree>;
  counted: { query: Query; conditions: readonly Condition[]; isUnscoped: boolean };
}

async function select(deps: SearchTicketsDeps, { caller }: Call, list: List): Promise<Selection> {
  const { conditions, now, isSkillScope } = list;
  const { spamDetectionTagId, defaultCountry } = await deps.settings();
  const conditionQueries = compileConditions(conditions, { now, defaultCountry });
  // Tags that decide which tickets match must be current; tags that are only shown may be old.
  const tags = isSkillScope ? deps.tags.tree() : deps.tags.recentTree();
  const scope = isSkillScope ? scopeQueries(caller, await tags, spamDetectionTagId) : [];
  const query = combineQueries([...conditionQueries, ...scope]);
  return { query, tags, counted: { query, conditions, isUnscoped: scope.length === 0 } };
}

function readPage(
  { lists, pages }: SearchTicketsDeps,
  call: Call,
  request: SearchTicketsRequest,
  { query, tags, order, now, limit, offset, cursor }: List & Selection,
): Promise<Page> {
  return lists.pages.page({
    ...{ query, order, now, limit },
    offset: cursor ? 0 : offset,
    after: cursor,
    withRawData: request.includeRawData ?? false,
    tagBytes: async () => {
      const tree = await tags;
      return (tagIds) => sizeOfTags(tagIds, tree);
    },
    isEncodedAtOnce: call.api === 'rpc',
    signal: call.signal,
    take: (bytes) => pages.take(callerKey(call.caller), bytes, call),
  });
}

async function respond(
  { views, cursors }: SearchTicketsDeps,
  call: Call,
  request: SearchTicketsRequest,
  { page, tree, total, now, limit, offset, boundTo }: List & { page: Page; tree: TagTree; total: number },
): Promise<SearchTicketsResponse> {
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
    tickets: await views.compact(stored, options),
    ...{ total, offset, limit },
    ...(end ? { nextCursor: cursors.write(end, boundTo) } : {}),
  };
  return isLarge ? markAsLarge(response) : response;
}

/** The number of tickets of a list, if its first or last page shows it: undefined if not. */
function readTotal({ count, end }: Page, offset: number): number | undefined {
  return !end && (count > 0 || offset === 0) ? offset + count : undefined;
}

/** The tags of a ticket are not stored with it, but are part of its message. */
function sizeOfTags(tagIds: readonly number[], tree: TagTree): number {
  return tagMessages(tagIds, tree).reduce((sum, tag) => sum + tagSize(tag), 0);
}
