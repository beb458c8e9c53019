import { DomainError } from '@ticketing/errors/domain-error.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import type { RowParts } from './open.ts';
import { toRow } from './rules/from-snapshot.ts';

/** The dependencies that keep the rows up to date. */
export type ProjectionParts = Pick<RowParts, 'rows' | 'tagRefreshes' | 'exports' | 'tickets' | 'runtime'>;

/** The trace and the abort signal of calls to the tickets service. */
export type TicketsCall = Pick<OnBehalfOf, 'trace' | 'signal'>;

const tagPageSize = 100;
/** Each attempt reads all tickets that are left. Their events are delivered again before a consumer's deadline of 15 s. */
const maxReads = 20;

/**
 * Updates the rows of tickets to the current state of the tickets. In whatever order and however often this runs, a row
 * ends up with the newest state of its ticket and the newest names of its tags. `newIds` are those that probably have no row
 * yet.
 *
 * Errors: concurrent_change, if tickets and tags change faster than they can be read.
 */
export async function project(
  parts: ProjectionParts,
  ids: readonly number[],
  call: TicketsCall,
  newIds?: ReadonlySet<number>,
): Promise<void> {
  const { rows, tagRefreshes, tickets, runtime } = parts;
  let left = ids;
  await retryOnConflict(runtime, changingTooFast, async (nth) => {
    if (left.length === 0) return undefined;
    if (nth > maxReads) throw changingTooFast();
    const addCount = await tagRefreshes.addCount();
    const stale: number[] = [];
    for await (const { snapshots, tags, tagRevision } of tickets.snapshots(left, call)) {
      const tagOfId = new Map(tags.map((tag) => [tag.id, tag]));
      const ofPart = snapshots.map((snapshot) => toRow(snapshot, tagOfId));
      const missing = nth === 1 ? newIds : undefined;
      stale.push(...(await rows.put({ rows: ofPart, tagRevision: Number(tagRevision), newIds: missing })));
    }
    // If a tag has changed since, its refresh may have looked for rows before these were written: read all of them again.
    if (addCount === (await tagRefreshes.addCount())) left = stale;
    return left.length === 0 ? undefined : conflict;
  });
}

function changingTooFast(): DomainError {
  const detail = 'Tickets and tags change faster than they can be read.';
  return new DomainError('unavailable', 'concurrent_change', detail);
}

/**
 * Erases all data that this service keeps of a deleted ticket. May be repeated.
 *
 * Source: docs/reference/api.md, Deletion.
 */
export async function erase(
  { rows, exports }: Pick<ProjectionParts, 'rows' | 'exports'>,
  id: number,
  version: number,
): Promise<void> {
  await rows.erase(id, version);
  await exports.withdrawFilesWith(id);
}

/**
 * Updates the rows of all tags that have changed. Returns the number of tags.
 *
 * Source: docs/reference/api.md, Reporting rows.
 */
export async function refreshTags(parts: ProjectionParts, signal: AbortSignal): Promise<number> {
  const { rows, tagRefreshes } = parts;
  let count = 0;
  for (let refresh = await tagRefreshes.next(); refresh && !signal.aborted; refresh = await tagRefreshes.next()) {
    let { doneUpTo } = refresh;
    let ids = await rows.idsWithTag(refresh.tagId, doneUpTo, tagPageSize);
    while (ids.length > 0 && !signal.aborted) {
      await project(parts, ids, { trace: continueTrace(undefined), signal });
      doneUpTo = ids.at(-1) ?? doneUpTo;
      await tagRefreshes.recordProgress(refresh, doneUpTo);
      ids = ids.length < tagPageSize ? [] : await rows.idsWithTag(refresh.tagId, doneUpTo, tagPageSize);
    }
    if (!signal.aborted) await tagRefreshes.remove(refresh);
    count += 1;
  }
  return count;
}
