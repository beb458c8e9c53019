import type { Logger } from '@ticketing/runtime/logger.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { FreeSpace } from '@ticketing/store/connection/free-space.ts';
import { type DailyJob, openDailyJob } from '@ticketing/store/leases/daily-job.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import { type ExportStore, exportStore } from './export/store.ts';
import type { ProjectionContext } from './row/projection.ts';
import { rowStore } from './row/store/store.ts';
import { tagRefreshStore } from './row/store/tag-refresh-store.ts';
import { openTicketsClient } from './row/tickets-client.ts';
import type { ReportingSettings } from './settings.ts';

/** The stores, clients and settings that the handlers of this service use. */
export interface Context extends ProjectionContext {
  exports: ExportStore;
  pages: PageBudget;
  /** The disk of the database, which files of exports fill. */
  space: FreeSpace;
  settings(): Promise<ReportingSettings>;
  log: Logger;
  /** The export worker of this process; undefined until it is started, and in processes without the scheduler role. */
  exportWorker: Pick<WakefulLoop, 'wake'> | undefined;
  reconciliations: DailyJob;
  /** Unix seconds. */
  now(): number;
}

/** Opens the stores on the database of a kit, and the client of the tickets service. */
export function openContext(kit: Kit<unknown, ReportingSettings>): Context {
  const { runtime } = kit;
  const { connection } = kit.database;
  return {
    rows: rowStore(connection, runtime),
    tagRefreshes: tagRefreshStore(connection, runtime),
    exports: exportStore(connection, runtime),
    reconciliations: openDailyJob(connection, 'reconciliation'),
    tickets: openTicketsClient(kit),
    pages: kit.pages,
    space: kit.space,
    settings: kit.settings,
    log: kit.log,
    exportWorker: undefined,
    now: () => secondsNow(runtime),
  };
}
