import { DomainError } from '@ticketing/errors/domain-error.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { ExportStore } from '../export/store.ts';
import { rowOf } from './rules/from-snapshot.ts';
import type { RowStore } from './store/store.ts';
import type { TagRefreshStore } from './store/tag-refresh-store.ts';
import type { TicketsClient } from './tickets-client.ts';

/** The stores and the client that keep the rows up to date. */
export interface ProjectionContext {
  rows: RowStore;
  tagRefreshes: TagRefreshStore;
  exports: Pick<ExportStore, 'withdrawFilesWith'>;
  tickets: TicketsClient;
}

/** The trace and the abort signal of calls to the tickets service. */
export type CallOptions = Pick<OnBehalfOf, 'trace' | 'signal'>;

const maxReads = 20;
const tagPageSize = 100;

/**
 * Updates the rows of tickets to the current state of the tickets. In whatever order and however often this runs, a row
 * ends up with the newest state of its ticket and the newest names of its tags.
 *
 * Errors: concurrent_change, if tickets and tags change faster than they can be read.
 */
export async function project(context: ProjectionContext, ids: readonly number[], options: CallOptions): Promise<void> {
  let toRead = ids;
  for (let read = 0; toRead.length > 0; read++) {
    if (read === maxReads) {
      throw new DomainError(
        'unavailable',
        'concurrent_change',
        'Tickets and tags change faster than they can be read.',
      );
    }
    const addCount = await context.tagRefreshes.addCount();
    const toReadAgain: number[] = [];
    for await (const { snapshots, tags, tagRevision } of context.tickets.snapshots(toRead, options)) {
      const tagOfId = new Map(tags.map((tag) => [tag.id, tag]));
      const rows = snapshots.map((snapshot) => rowOf(snapshot, tagOfId));
      toReadAgain.push(...(await context.rows.put(rows, Number(tagRevision))));
    }
    // If a tag has changed since, its refresh may have looked for rows before these were written: read all of them again.
    if (addCount === (await context.tagRefreshes.addCount())) toRead = toReadAgain;
  }
}

/**
 * Erases all data that this service keeps of a deleted ticket. May be repeated.
 *
 * Source: docs/reference/api.md, Deletion.
 */
export async function erase(
  { rows, exports }: Pick<ProjectionContext, 'rows' | 'exports'>,
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
export async function refreshTags(context: ProjectionContext, signal: AbortSignal): Promise<number> {
  const { rows, tagRefreshes } = context;
  let count = 0;
  for (let refresh = await tagRefreshes.next(); refresh && !signal.aborted; refresh = await tagRefreshes.next()) {
    let { doneUpTo } = refresh;
    let ids = await rows.idsWithTag(refresh.tagId, doneUpTo, tagPageSize);
    while (ids.length > 0 && !signal.aborted) {
      await project(context, ids, { trace: continueTrace(undefined), signal });
      doneUpTo = ids.at(-1) ?? doneUpTo;
      await tagRefreshes.recordProgress(refresh, doneUpTo);
      ids = ids.length < tagPageSize ? [] : await rows.idsWithTag(refresh.tagId, doneUpTo, tagPageSize);
    }
    if (!signal.aborted) await tagRefreshes.remove(refresh);
    count += 1;
  }
  return count;
}
