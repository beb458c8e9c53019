import { ExportService } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { implement } from '@ticketing/rest/routes/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { eventHandler } from './consume.ts';
import { openContext } from './context.ts';
import { exportReportingTickets } from './export/export-tickets.ts';
import { getReportingExport } from './export/get.ts';
import { getReportingExportFile } from './export/get-file.ts';
import { startExportWorker } from './export/worker.ts';
import { rowOperations } from './row/operations.ts';
import { erase } from './row/projection.ts';
import { tagRefresher } from './row/tag-refresher.ts';
import { driftMeter, scheduledTasks } from './scheduled-tasks.ts';
import { setUpStore } from './set-up-store.ts';
import { readSettings } from './settings.ts';

/** The reporting service. */
export const service = composeService({
  name: 'reporting',
  readSettings,
  setUpStore,
  compose(kit) {
    const context = openContext(kit);
    const refresher = tagRefresher(context, kit.database.opened);
    return {
      implementations: [
        implement(ExportService, context, {
          exportReportingTickets,
          getReportingExport,
          getReportingExportFile,
        }),
      ],
      handle: eventHandler(context, refresher.wake),
      eraseTicket: (id, version) => erase(context, id, version),
      tasks: scheduledTasks(context, driftMeter(kit.metrics.registry), kit.stopping),
      loops: [
        { role: 'consumer', start: refresher.start },
        { role: 'scheduler', start: () => startExportWorker(context, kit.database.opened) },
      ],
      operations: rowOperations(context),
      pending: [{ description: 'tags do not show in all rows yet', count: () => context.tagRefreshes.pendingCount() }],
    };
  },
});
