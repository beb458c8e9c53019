import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { type DailyJob, openDailyJob } from '@ticketing/store/leases/daily-job.ts';
import { type RowStore, rowStore } from './store/store.ts';
import { type TagRefreshStore, tagRefreshStore } from './store/tag-refresh-store.ts';
import { openTicketsClient, type TicketsClient } from './tickets-client.ts';

/** The dependencies of the work on rows. */
export interface RowParts {
  rows: RowStore;
  tagRefreshes: TagRefreshStore;
  tickets: TicketsClient;
  /** Files with copies of rows: those that contain a deleted ticket are withdrawn. */
  exports: { withdrawFilesWith(ticketId: number): Promise<void> };
  reconciliations: DailyJob;
  runtime: Pick<Runtime, 'now' | 'random'>;
  log: Logger;
}

type KitOfRows = Pick<Kit<unknown, unknown>, 'database' | 'openClient' | 'confirmErasure' | 'runtime' | 'log'>;

/** Opens the rows on the database of a kit. */
export function openRows(kit: KitOfRows, exports: RowParts['exports']): RowParts {
  const { runtime, log } = kit;
  const { connection } = kit.database;
  return {
    rows: rowStore(connection, runtime),
    tagRefreshes: tagRefreshStore(connection, runtime),
    tickets: openTicketsClient(kit),
    exports,
    reconciliations: openDailyJob(connection, 'reconciliation'),
    runtime,
    log,
  };
}
