import { DomainError, notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import type { SourceParts } from './open.ts';
import { blockedBy } from './rules/access.ts';
import type { SourceTree } from './rules/state.ts';
import type { ShownSource } from './to-proto.ts';

/**
 * Reads sources as the caller may see them, in the order of `ids`. Sources that are deleted meanwhile are left out.
 *
 * A source is shown only with teams that applied to the text that is read: a source that was changed after the tree was
 * read is read again with a newer tree.
 */
export async function readSources(
  { sources, runtime }: Pick<SourceParts, 'sources' | 'runtime'>,
  { caller }: Pick<Call, 'caller'>,
  ids: readonly number[],
  tree: SourceTree,
): Promise<ShownSource[]> {
  const teams = new Set(caller.teams);
  const shown = new Map<number, ShownSource>();
  let [left, current] = [ids, tree];
  await retryOnConflict(runtime, tooBusy, async () => {
    if (left.length === 0) return undefined;
    const stored = await sources.read(left);
    const { revision } = current;
    for (const source of stored.filter((one) => one.revision <= revision)) {
      shown.set(source.id, { source, blocked: blockedBy(current, source.id, teams) });
    }
    left = stored.filter((one) => one.revision > revision).map(({ id }) => id);
    if (left.length === 0) return undefined;
    current = await sources.tree();
    return conflict;
  });
  return ids.flatMap((id) => shown.get(id) ?? []);
}

/** Reads one source. Errors: knowledge_source_not_found, even if it is only deleted. */
export async function readSource(
  parts: Pick<SourceParts, 'sources' | 'runtime'>,
  call: Call,
  id: number,
): Promise<ShownSource> {
  const tree = await parts.sources.tree();
  const [shown] = tree.get(id) ? await readSources(parts, call, [id], tree) : [];
  if (!shown) throw notFound('Knowledge source');
  return shown;
}

function tooBusy(): DomainError {
  const detail = 'The source is being changed too often.';
  return new DomainError('unavailable', 'too_much_at_once', detail, { retryAfterSeconds: 1 });
}
