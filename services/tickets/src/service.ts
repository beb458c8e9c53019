import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { openBus } from '@ticketing/events/bus/bus-config.ts';
import { type Relay, startRelay } from '@ticketing/events/outbox/relay.ts';
import { measureOutboxes } from '@ticketing/events/outbox/relay-metrics.ts';
import { implement, type ServiceImplementation } from '@ticketing/rest/rest-api.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { keyedQueue } from '@ticketing/runtime/keyed-queue.ts';
import { createLogger, type Logger } from '@ticketing/runtime/logger.ts';
import { openAuthenticator, openIssuer } from '@ticketing/service-kit/identity/identity.ts';
import { watchHealth } from '@ticketing/service-kit/lifecycle/health.ts';
import type { RunningService } from '@ticketing/service-kit/lifecycle/run-service.ts';
import { startSchedule } from '@ticketing/service-kit/lifecycle/schedule.ts';
import { createMetrics } from '@ticketing/service-kit/observability/metrics.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { idempotent } from '@ticketing/service-kit/server/idempotency.ts';
import { openServiceServer, type Ports } from '@ticketing/service-kit/server/service-server.ts';
import { cursorCodec } from '@ticketing/store/cursor.ts';
import { openDatabase } from '@ticketing/store/database.ts';
import { counterModel, idSequence } from '@ticketing/store/id-sequence.ts';
import { idempotencyStore } from '@ticketing/store/idempotency-store.ts';
import { profileStore } from '@ticketing/store/profile-store.ts';
import { openBulks } from './application/bulk.ts';
import type { Context } from './application/context.ts';
import { measureErasures } from './application/erasure-metrics.ts';
import { scheduledTasks } from './application/scheduled-tasks.ts';
import { readTicketsConfig, type TicketsConfig } from './config.ts';
import { openOutboxes } from './events/outboxes.ts';
import { confirmErasure } from './rpc/confirm-erasure.ts';
import { createTag } from './rpc/create-tag.ts';
import { createTicket } from './rpc/create-ticket.ts';
import { deleteTag } from './rpc/delete-tag.ts';
import { deleteTicket } from './rpc/delete-ticket.ts';
import { getLatestTickets } from './rpc/get-latest-tickets.ts';
import { getTag } from './rpc/get-tag.ts';
import { getTicket } from './rpc/get-ticket.ts';
import { getTicketSnapshots } from './rpc/get-ticket-snapshots.ts';
import { listTags } from './rpc/list-tags.ts';
import { listTicketVersions } from './rpc/list-ticket-versions.ts';
import { searchTickets } from './rpc/search-tickets.ts';
import { updateTag } from './rpc/update-tag.ts';
import { updateTicket } from './rpc/update-ticket.ts';
import { updateTickets } from './rpc/update-tickets.ts';
import { defaultSettings, type ReadSettings } from './settings.ts';
import { analysisRequestStore } from './store/analysis-request-store.ts';
import { bulkStore } from './store/bulk-store.ts';
import { tagStore } from './store/tag-store.ts';
import { openTicketStores } from './store/ticket-stores.ts';

/** The tickets service, running. */
export interface RunningTickets extends RunningService {
  ports: Ports;
  log: Logger;
}

/** Starts the tickets service. Errors: a ConfigError; a key file that is not usable; a port that is taken. */
export async function startTickets(
  environment?: Environment,
  settings: ReadSettings = defaultSettings,
): Promise<RunningTickets> {
  const config = readTicketsConfig(environment);
  const log = createLogger('tickets', config.logLevel);
  const bus = config.roles.includes('relay') ? await openBus(config.bus, 'tickets', log) : undefined;
  const issuer = openIssuer(config.issuer, log);
  const authenticator = openAuthenticator('tickets', issuer, config.internalJwksFile);
  const database = openDatabase(config.store.mongodbUri, config.store.database, (error) =>
    log.warn({ err: error }, 'the database can not be reached'),
  );
  const health = watchHealth({ mongodb: () => database.check(), issuer: () => issuer.keys.check() });
  let relay: Relay | undefined;
  const context = ticketsContext(config, database.connection, settings, () => relay?.wake());
  const outboxes = openOutboxes(database);
  const metrics = createMetrics('tickets');
  measureOutboxes(outboxes, metrics.registry);
  measureErasures(context.erasures, metrics.registry);
  const release = async () => {
    await bus?.close();
    health.close();
    issuer.keys.close();
    await database.close();
  };
  const server = await openServiceServer({
    name: 'tickets',
    host: config.host,
    ports: { http: config.httpPort, grpc: config.grpcPort, internal: config.internalPort },
    served: config.roles.includes('api') ? idempotent(servedBy(context), context.idempotency) : [],
    authenticator,
    health,
    log,
    metrics,
    onCaller: (caller) => {
      context.profiles.remember(caller).catch((error: unknown) => log.warn({ err: error }, 'a profile was not kept'));
    },
  }).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  if (bus) relay = startRelay({ database, outboxes, bus, log });
  const tasks = config.roles.includes('scheduler') ? scheduledTasks(context) : [];
  const schedule = startSchedule(tasks, () => health.isReady(), log);
  return {
    ports: server.ports,
    log,
    async stop() {
      health.startStopping();
      await server.close(config.drainMs);
      await schedule.stop();
      await relay?.stop();
      await release();
    },
  };
}

/** Wires the stores of a database to what the handlers work with; `tell` is called when an event is to be sent. */
export function ticketsContext(
  config: TicketsConfig,
  connection: ReturnType<typeof openDatabase>['connection'],
  settings: ReadSettings,
  tell: () => void,
): Context {
  const counters = counterModel(connection);
  const stores = openTicketStores(connection, tell);
  const deletedOf = async (ids: readonly number[]) => {
    const alive = ids.length === 0 ? new Map() : await stores.tickets.versions(ids);
    return ids.filter((id) => !alive.has(id));
  };
  const context = {
    ...stores,
    tags: tagStore(connection, tell),
    profiles: profileStore(connection),
    analysisRequests: analysisRequestStore(connection),
    bulkStore: bulkStore(connection),
    idempotency: idempotencyStore(connection, deletedOf),
    ticketIds: idSequence(counters, 'ticket'),
    tagIds: idSequence(counters, 'tag'),
    settings,
    // All replicas share the signing key, so each reads the cursors of the others.
    cursors: cursorCodec(createHash('sha256').update('cursor').update(readFileSync(config.signingKeyFile)).digest()),
    changeQueue: keyedQueue(),
    now: () => Math.floor(Date.now() / 1000),
  };
  return { ...context, bulks: openBulks(context) };
}

function servedBy(context: Context): ServiceImplementation<Call>[] {
  return [
    implement(SnapshotService, {
      getTicketSnapshots: (call: Call, request) => getTicketSnapshots(context, call, request),
      listTicketVersions: (call: Call, request) => listTicketVersions(context, call, request),
      confirmErasure: (call: Call, request) => confirmErasure(context, call, request),
    }),
    implement(TicketService, {
      createTicket: (call: Call, request) => createTicket(context, call, request),
      getTicket: (call: Call, request) => getTicket(context, call, request),
      searchTickets: (call: Call, request) => searchTickets(context, call, request),
      getLatestTickets: (call: Call, request) => getLatestTickets(context, call, request),
      updateTicket: (call: Call, request) => updateTicket(context, call, request),
      updateTickets: (call: Call, request) => updateTickets(context, call, request),
      deleteTicket: (call: Call, request) => deleteTicket(context, call, request),
    }),
    implement(TagService, {
      createTag: (call: Call, request) => createTag(context, call, request),
      getTag: (call: Call, request) => getTag(context, call, request),
      listTags: (call: Call, request) => listTags(context, call, request),
      updateTag: (call: Call, request) => updateTag(context, call, request),
      deleteTag: (call: Call, request) => deleteTag(context, call, request),
    }),
  ];
}
