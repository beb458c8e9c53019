import type { ListKnowledgeSourcesRequest } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import {
  type KnowledgeSource,
  KnowledgeStatus,
} from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import { type DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { isLargePage, takePage } from '@ticketing/store/paging/page-budget.ts';
import { readSearch, type SearchTerm } from '@ticketing/text/search-query.ts';
import type { SourceParts } from './open.ts';
import { readSources } from './read.ts';
import { blockedBy } from './rules/access.ts';
import { sourcesByTime } from './rules/order.ts';
import { maxSearchWords } from './rules/search-words.ts';
import type { SourceNode, SourceTree } from './rules/state.ts';
import { estimateShownBytes } from './schema.ts';
import { sourceToProto } from './to-proto.ts';

/** The filter, the page and the direction of a list of sources. */
export interface SourceFilter
  extends Partial<
    Pick<ListKnowledgeSourcesRequest, 'q' | 'type' | 'status' | 'tag' | 'parent' | 'source' | 'excluded'>
  > {
  limit: number | undefined;
  offset: number | undefined;
  isAscending: boolean;
}

/** A page of a list, and how many match in all. */
export interface SourcePage {
  sources: KnowledgeSource[];
  total: number;
  offset: number;
  limit: number;
  isLarge: boolean;
}

/**
 * Reads a page of sources, by time or, with `q`, by relevance: first those that have all words in title and name. Only
 * the sources on the page are read: the order and the total follow from what is in memory.
 *
 * Errors: not_allowed; page_too_large, too_much_at_once; too_many_words; search_too_slow.
 */
export async function listSources(parts: SourceParts, call: Call, filter: SourceFilter): Promise<SourcePage> {
  const { limit = 100, offset = 0, status = KnowledgeStatus.ACTIVE } = filter;
  const terms = filter.q === undefined ? undefined : parseSearch(filter.q);
  const tree = await parts.sources.tree();
  const ranked = await matchingNodes(parts, call, tree, { ...filter, status, terms });
  const nodes = ranked.slice(offset, offset + limit);
  await takePage(
    parts.pages,
    callerKey(call.caller),
    nodes.map(({ bytes }) => bytes),
    call,
  );
  const shown = await readSources(
    parts,
    call,
    nodes.map(({ id }) => id),
    tree,
  );
  // A source no longer matches if its status has changed meanwhile, or if only its text matched and is now blocked.
  const isFoundByText = new Map(nodes.map(({ id, isFoundByText }) => [id, isFoundByText]));
  const sources = shown
    .filter(({ source, blocked }) => source.status === status && !(blocked.length > 0 && isFoundByText.get(source.id)))
    .map(sourceToProto);
  const isLarge = isLargePage(shown.map(({ source }) => estimateShownBytes(source)));
  return { sources, total: ranked.length, offset, limit, isLarge };
}

interface RankedNode extends Pick<SourceNode, 'id' | 'bytes'> {
  isFoundByText?: boolean;
}

async function matchingNodes(
  { sources }: SourceParts,
  { caller }: Call,
  tree: SourceTree,
  filter: SourceFilter & { status: KnowledgeStatus; terms: SearchTerm[] | undefined },
): Promise<readonly RankedNode[]> {
  const { type, parent, excluded, tag, source, terms, isAscending } = filter;
  const stored = tag === undefined && source === undefined ? undefined : sources.matching({ tag, source });
  const byTitle = terms && sources.matching({ terms, in: 'title' });
  const byText = terms && sources.matching({ terms, in: 'titleAndText' });
  const [matching, inTitle, inText] = await Promise.all([stored, byTitle, byText]);
  const byTime = sourcesByTime(tree, filter.status);
  const isUnfiltered = type === undefined && parent === undefined && excluded === undefined && !matching;
  const filtered = isUnfiltered
    ? byTime
    : byTime.filter(
        (node) =>
          (type === undefined || node.type === type) &&
          (parent === undefined || node.parent === parent) &&
          (excluded === undefined || node.excluded === excluded) &&
          (!matching || matching.has(node.id)),
      );
  const ordered = isAscending ? filtered : filtered.toReversed();
  if (!inTitle || !inText) return ordered;
  const teams = new Set(caller.teams);
  const first = ordered.filter(({ id }) => inTitle.has(id));
  // The words of a text that the caller may not read match nothing, so that nobody learns them by searching.
  const others = ordered.filter(
    ({ id }) => inText.has(id) && !inTitle.has(id) && blockedBy(tree, id, teams).length === 0,
  );
  return [...first, ...others.map(({ id, bytes }) => ({ id, bytes, isFoundByText: true }))];
}

/** Errors: too_many_words. */
function parseSearch(q: string): SearchTerm[] {
  const terms = readSearch(q, { leastBeginning: 1 });
  if (terms.length <= maxSearchWords) return terms;
  throw refused('#/q', 'too_many_words', `may have ${maxSearchWords} words`);
}

function refused(pointer: string, code: string, detail: string): DomainError {
  return invalidInput([{ pointer, code, detail }]);
}
