import type { Logger } from '@ticketing/runtime/logger.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { type DailyJob, openDailyJob } from '@ticketing/store/daily-job.ts';
import type { ReportingSettings } from '../settings.ts';
import { type ExportStore, exportStore } from '../store/export-store.ts';
import { rowStore } from '../store/row-store.ts';
import { tagRefreshStore } from '../store/tag-refresh-store.ts';
import type { Projection } from './projection.ts';
import { openTicketsClient } from './tickets-client.ts';

/** What the handlers of this service work with. */
export interface Context extends Projection {
  exports: ExportStore;
  settings(): Promise<ReportingSettings>;
  log: Logger;
  /** What makes exports in this process, once it is started. */
  exportWorker: Pick<WakefulLoop, 'wake'> | undefined;
  reconciliations: DailyJob;
  /** Unix seconds. */
  now(): number;
}

/** Opens the stores on the database of a kit, and the client of the tickets service. */
export function openContext(kit: Kit<unknown, ReportingSettings>): Context {
  const { connection } = kit.database;
  return {
    rows: rowStore(connection),
    tagRefreshes: tagRefreshStore(connection),
    exports: exportStore(connection),
    reconciliations: openDailyJob(connection, 'reconciliation'),
    tickets: openTicketsClient(kit),
    settings: kit.settings,
    log: kit.log,
    exportWorker: undefined,
    now: () => secondsNow(kit.runtime),
  };
}
