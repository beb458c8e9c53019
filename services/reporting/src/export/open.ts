import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { LaterLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { FreeSpace } from '@ticketing/store/connection/free-space.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import type { RowStore } from '../row/store/store.ts';
import type { ReportingSettings } from '../settings.ts';
import type { ExportStore } from './store.ts';
import { exportWorker } from './worker.ts';

/** The dependencies of the handlers of exports. */
export interface ExportParts {
  exports: ExportStore;
  rows: Pick<RowStore, 'count' | 'pages'>;
  pages: PageBudget;
  /** The disk of the database, which files of exports fill. */
  space: FreeSpace;
  settings(): Promise<ReportingSettings>;
  worker: LaterLoop;
  runtime: Runtime;
}

type KitOfExports = Pick<
  Kit<unknown, ReportingSettings>,
  'database' | 'pages' | 'space' | 'settings' | 'runtime' | 'log'
>;

/** Opens the exports of rows. */
export function openExports(kit: KitOfExports, exports: ExportStore, rows: RowStore): ExportParts {
  const { pages, space, settings, runtime, log } = kit;
  const worker = exportWorker({ exports, rows, settings, runtime, log }, kit.database.opened);
  return { exports, rows, pages, space, settings, worker, runtime };
}
