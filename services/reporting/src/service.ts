import { ExportService } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { implement } from '@ticketing/rest/routes/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { eventHandler } from './consume.ts';
import { exportReportingTickets } from './export/export-tickets.ts';
import { getReportingExport } from './export/get.ts';
import { getReportingExportFile } from './export/get-file.ts';
import { openExports } from './export/open.ts';
import { exportStore } from './export/store.ts';
import { exportRetentionMs } from './export/to-proto.ts';
import { openRows } from './row/open.ts';
import { erase } from './row/projection.ts';
import { driftMeter, reconcileDaily, rowOperations } from './row/reconciliation-runs.ts';
import { tagRefresher } from './row/tag-refresher.ts';
import { setUpStore } from './set-up-store.ts';
import { readSettings } from './settings.ts';

const minute = 60_000;

/** The reporting service. */
export const service = composeService({
  name: 'reporting',
  readSettings,
  setUpStore,
  compose(kit) {
    const exports = exportStore(kit.database.connection, kit.runtime);
    const row = openRows(kit, exports);
    const { rows, tagRefreshes } = row;
    const forExport = openExports(kit, exports, rows);
    const refresher = tagRefresher(row, kit.database.opened);
    const meter = driftMeter(kit.metrics.registry);
    return {
      implementations: [
        implement(ExportService, forExport, {
          exportReportingTickets,
          getReportingExport,
          getReportingExportFile,
        }),
      ],
      handle: eventHandler(row, refresher.wake),
      eraseTicket: (id, version) => erase(row, id, version),
      // Every replica runs them; a task that must run once is claimed in the store.
      tasks: [
        { name: 'reconcile rows', everyMs: minute, run: () => reconcileDaily(row, meter, kit.stopping) },
        { name: 'remove old rows', everyMs: minute, run: () => rows.dropOldGenerations() },
        {
          name: 'remove old exports',
          everyMs: minute,
          run: () => exports.removeOlderThan(new Date(kit.runtime.now() - exportRetentionMs)),
        },
      ],
      loops: [
        { role: 'consumer', start: refresher.start },
        { role: 'scheduler', start: forExport.worker.start },
      ],
      operations: rowOperations(row),
      pending: [{ description: 'tags do not show in all rows yet', count: () => tagRefreshes.pendingCount() }],
    };
  },
});
