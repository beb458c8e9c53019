import { ExportService } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import type { Bus } from '@ticketing/events/bus/bus.ts';
import { openBus } from '@ticketing/events/bus/bus-config.ts';
import { type Consumer, startConsumer } from '@ticketing/events/consumer/consumer.ts';
import { measureConsumers } from '@ticketing/events/consumer/consumer-metrics.ts';
import { openDeadLetters } from '@ticketing/events/dead-letters/dead-letters.ts';
import { implement, type ServiceImplementation } from '@ticketing/rest/rest-api.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { createLogger, type Logger } from '@ticketing/runtime/logger.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { openAuthenticator, openIssuer } from '@ticketing/service-kit/identity/identity.ts';
import { internalTokens } from '@ticketing/service-kit/identity/internal-token.ts';
import { watchHealth } from '@ticketing/service-kit/lifecycle/health.ts';
import type { RunningService } from '@ticketing/service-kit/lifecycle/run-service.ts';
import { startSchedule } from '@ticketing/service-kit/lifecycle/schedule.ts';
import { createMetrics } from '@ticketing/service-kit/observability/metrics.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { openServiceServer, type Ports } from '@ticketing/service-kit/server/service-server.ts';
import { type Database, openDatabase } from '@ticketing/store/database.ts';
import type { Context } from './application/context.ts';
import { startExportWorker } from './application/export-worker.ts';
import { driftMeter, scheduledTasks } from './application/scheduled-tasks.ts';
import { startTagRefresher } from './application/tag-refresher.ts';
import { openTicketsClient } from './application/tickets-client.ts';
import { readReportingConfig } from './config.ts';
import { consumedTopics, consumerGroup, eventHandler } from './events/consume.ts';
import { exportReportingTickets } from './rpc/export-reporting-tickets.ts';
import { getReportingExport } from './rpc/get-reporting-export.ts';
import { getReportingExportFile } from './rpc/get-reporting-export-file.ts';
import { defaultSettings, type ReadSettings } from './settings.ts';
import { exportStore } from './store/export-store.ts';
import { nightStore } from './store/night-store.ts';
import { rowStore } from './store/row-store.ts';
import { tagRefreshStore } from './store/tag-refresh-store.ts';

/** The reporting service, running. */
export interface RunningReporting extends RunningService {
  ports: Ports;
  log: Logger;
}

/** Starts the reporting service. Errors: a ConfigError; a key file that is not usable; a port that is taken. */
export async function startReporting(
  environment?: Environment,
  settings: ReadSettings = defaultSettings,
): Promise<RunningReporting> {
  const config = readReportingConfig(environment);
  const log = createLogger('reporting', config.logLevel);
  const bus = config.roles.includes('consumer') ? await openBus(config.bus, 'reporting', log) : undefined;
  const issuer = openIssuer(config.issuer, log);
  const authenticator = openAuthenticator('reporting', issuer, config.internalJwksFile);
  const tokens = await internalTokens('reporting', config.signingKeyFile);
  const database = openDatabase(config.store.mongodbUri, config.store.database, (error) =>
    log.warn({ err: error }, 'the database can not be reached'),
  );
  const health = watchHealth({ mongodb: () => database.check(), issuer: () => issuer.keys.check() });
  const tickets = openTicketsClient(config.ticketsTarget, tokens);
  const metrics = createMetrics('reporting');
  let exporter: WakefulLoop | undefined;
  const context = reportingContext(database, { tickets, settings, log, wakeExports: () => exporter?.wake() });
  const release = async () => {
    await bus?.close();
    health.close();
    issuer.keys.close();
    tickets.close();
    await database.close();
  };
  const server = await openServiceServer({
    name: 'reporting',
    host: config.host,
    ports: { http: config.httpPort, grpc: config.grpcPort, internal: config.internalPort },
    served: config.roles.includes('api') ? servedBy(context) : [],
    authenticator,
    health,
    log,
    metrics,
  }).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  const consuming = bus && consume(bus, database, context);
  if (consuming) measureConsumers([consuming.consumer], openDeadLetters(database.connection), metrics.registry);
  if (config.roles.includes('scheduler')) exporter = startExportWorker(context, database.opened);
  const stopping = new AbortController();
  const drift = driftMeter(metrics.registry);
  const tasks = config.roles.includes('scheduler') ? scheduledTasks(context, drift, stopping.signal) : [];
  const schedule = startSchedule(tasks, () => health.isReady(), log);
  return {
    ports: server.ports,
    log,
    async stop() {
      health.startStopping();
      await server.close(config.drainMs);
      stopping.abort();
      await exporter?.stop();
      await schedule.stop();
      await consuming?.stop();
      await release();
    },
  };
}

/** Wires the stores of a database to what the handlers work with. */
export function reportingContext(
  { connection }: Pick<Database, 'connection'>,
  around: Pick<Context, 'tickets' | 'settings' | 'log' | 'wakeExports'>,
): Context {
  return {
    ...around,
    rows: rowStore(connection),
    tagRefreshes: tagRefreshStore(connection),
    exports: exportStore(connection),
    nights: nightStore(connection),
    now: () => Math.floor(Date.now() / 1000),
  };
}

interface Consuming {
  consumer: Consumer;
  stop(): Promise<void>;
}

function consume(bus: Bus, database: Database, context: Context): Consuming {
  const refresher = startTagRefresher(context, database.opened, context.log);
  const consumer = startConsumer({
    bus,
    deadLetters: openDeadLetters(database.connection),
    group: consumerGroup,
    topics: consumedTopics,
    handle: eventHandler(context, refresher.wake),
    log: context.log,
  });
  return {
    consumer,
    async stop() {
      await consumer.stop();
      await refresher.stop();
    },
  };
}

function servedBy(context: Context): ServiceImplementation<Call>[] {
  return [
    implement(ExportService, {
      exportReportingTickets: (call: Call, request) => exportReportingTickets(context, call, request),
      getReportingExport: (call: Call, request) => getReportingExport(context, call, request),
      getReportingExportFile: (call: Call, request) => getReportingExportFile(context, call, request),
    }),
  ];
}
