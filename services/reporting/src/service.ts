import { ExportService } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { implement } from '@ticketing/rest/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { openContext } from './application/context.ts';
import { startExportWorker } from './application/export-worker.ts';
import { erase } from './application/projection.ts';
import { rowOperations } from './application/row-operations.ts';
import { driftMeter, scheduledTasks } from './application/scheduled-tasks.ts';
import { tagRefresher } from './application/tag-refresher.ts';
import { eventHandler } from './events/consume.ts';
import { exportReportingTickets } from './rpc/export-reporting-tickets.ts';
import { getReportingExport } from './rpc/get-reporting-export.ts';
import { getReportingExportFile } from './rpc/get-reporting-export-file.ts';
import { readSettings } from './settings.ts';
import { setUpStore } from './store/set-up-store.ts';

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
