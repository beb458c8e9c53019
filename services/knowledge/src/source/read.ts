import { DomainError, notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { isLargePage, requirePageSize } from '@ticketing/store/paging/page-budget.ts';
import type { Context } from '../context.ts';
import { blockedBy } from './rules/access.ts';
import type { SourceTree } from './rules/state.ts';
import type { ShownSource } from './to-proto.ts';

const maxAttempts = 50;

/**
 * Reads sources as the caller may see them, in the order of `ids`. Sources that are deleted meanwhile are left out.
 *
 * A source is shown only with teams that applied to the text that is read: a source that was changed after the tree was
 * read is read again with a newer tree.
 */
export async function readSources(
  { sources }: Pick<Context, 'sources'>,
  { caller }: Pick<Call, 'caller'>,
  ids: readonly number[],
  tree: SourceTree,
): Promise<ShownSource[]> {
  const teams = new Set(caller.teams);
  const shown = new Map<number, ShownSource>();
  let left: readonly number[] = ids;
  let current = tree;
  for (let attempt = 0; left.length > 0; attempt++) {
    if (attempt === maxAttempts) throw tooBusy();
    if (attempt > 0) current = await sources.tree();
    const found = await sources.read(left);
    const { revision } = current;
    for (const source of found.filter((one) => one.revision <= revision)) {
      shown.set(source.id, { source, blocked: blockedBy(current, source.id, teams) });
    }
    left = found.filter((one) => one.revision > revision).map(({ id }) => id);
  }
  return ids.flatMap((id) => shown.get(id) ?? []);
}

/** Reads one source. Errors: knowledge_source_not_found, also if it is deleted. */
export async function readSource(context: Pick<Context, 'sources'>, call: Call, id: number): Promise<ShownSource> {
  const tree = await context.sources.tree();
  const [shown] = tree.get(id) ? await readSources(context, call, [id], tree) : [];
  if (!shown) throw notFound('Knowledge source');
  return shown;
}

/**
 * Takes the bytes of a page from the budget of this process before it is read. Returns whether it is large. Units: sizes
 * in bytes, in the order of the page.
 *
 * Errors: page_too_large, too_much_at_once.
 */
export async function admitPage(
  { pages }: Pick<Context, 'pages'>,
  call: Call,
  sizes: readonly number[],
): Promise<boolean> {
  requirePageSize(sizes);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  await pages.take(callerKey(call.caller), bytes, call);
  return isLargePage(sizes);
}

function tooBusy(): DomainError {
  const detail = 'The source is being changed too often.';
  return new DomainError('unavailable', 'too_much_at_once', detail, { retryAfterSeconds: 1 });
}
