import { DomainError } from '@ticketing/errors/domain-error.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { rowOf } from '../domain/row.ts';
import type { ExportStore } from '../store/export-store.ts';
import type { RowStore } from '../store/row-store.ts';
import type { TagRefreshStore } from '../store/tag-refresh-store.ts';
import type { TicketsClient } from './tickets-client.ts';

/** What the rows are kept with. */
export interface Projection {
  rows: RowStore;
  tagRefreshes: TagRefreshStore;
  exports: Pick<ExportStore, 'withdrawWith'>;
  tickets: TicketsClient;
}

const maxReads = 20;
const tagged = 100;

/** Why something is read of the tickets service. */
export type Reason = Pick<OnBehalfOf, 'trace' | 'signal'>;

/**
 * Brings the rows of tickets to what the tickets are now. Whatever comes first or twice, a row ends as the newest state
 * of its ticket and of the names of its tags.
 *
 * Errors: concurrent_change, if tickets and tags change faster than they are read.
 */
export async function project(projection: Projection, ids: readonly number[], reason: Reason): Promise<void> {
  let left = ids;
  for (let read = 0; left.length > 0; read++) {
    if (read === maxReads)
      throw new DomainError('unavailable', 'concurrent_change', 'Tickets and tags change too fast.');
    const before = await projection.tagRefreshes.count();
    const { snapshots, tags, tagRevision } = await projection.tickets.snapshots(left, reason);
    const tagOfId = new Map(tags.map((tag) => [tag.id, tag]));
    const rows = snapshots.map((snapshot) => rowOf(snapshot, tagOfId));
    const mixed = await projection.rows.put(rows, Number(tagRevision));
    // Who refreshed the rows of a tag meanwhile may have looked for them before they were there.
    left = before === (await projection.tagRefreshes.count()) ? mixed : left;
  }
}

/** Erases all that this service keeps of a deleted ticket, and says so. May run again. Source: decisions.md section 5. */
export async function erase(projection: Projection, id: number, version: number, reason: Reason): Promise<void> {
  await projection.rows.erase(id, version);
  await projection.exports.withdrawWith(id);
  await projection.tickets.confirmErasure(id, reason);
}

/** Lets the rows show the new names of tags that have changed, until none is left; returns of how many. Source: decisions.md section 11. */
export async function refreshTags(projection: Projection, signal: AbortSignal): Promise<number> {
  const { rows, tagRefreshes } = projection;
  let count = 0;
  for (let refresh = await tagRefreshes.next(); refresh && !signal.aborted; refresh = await tagRefreshes.next()) {
    let { doneUpTo } = refresh;
    let ids = await rows.withTag(refresh.tagId, doneUpTo, tagged);
    while (ids.length > 0 && !signal.aborted) {
      await project(projection, ids, { trace: continueTrace(undefined), signal });
      doneUpTo = ids.at(-1) ?? doneUpTo;
      await tagRefreshes.advance(refresh, doneUpTo);
      ids = ids.length < tagged ? [] : await rows.withTag(refresh.tagId, doneUpTo, tagged);
    }
    if (!signal.aborted) await tagRefreshes.remove(refresh);
    count += 1;
  }
  return count;
}
