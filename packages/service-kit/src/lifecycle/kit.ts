import type { DescService } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import {
  type Configuration,
  ConfigurationService,
} from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { type OutboundGuard, outboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import { type LargeJson, openLargeJson } from '@ticketing/rest/limits/large-json.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import { type AuditLog, openAuditLog } from '@ticketing/store/audit/audit-log.ts';
import { type Database, openDatabase } from '@ticketing/store/connection/database.ts';
import { type FreeSpace, type ReadDisk, readDisk, watchFreeSpace } from '@ticketing/store/connection/free-space.ts';
import { type IdempotencyStore, openIdempotencyStore } from '@ticketing/store/idempotency/idempotency-store.ts';
import { openPageBudget, type PageBudget, type PageLimits } from '@ticketing/store/paging/page-budget.ts';
import type { ServiceEntry } from '@ticketing/system/services.ts';
import { callerShare } from '../admission/bodies-in-flight.ts';
import { createGrpcTransport } from '../client/grpc-transport.ts';
import { type OnBehalfOf, serviceClient } from '../client/service-client.ts';
import type { ServerLimits } from '../config/server-limits.ts';
import type { ServiceConfig } from '../config/service-config.ts';
import type { TracesConfig } from '../config/traces-config.ts';
import { type InternalTokens, internalTokens } from '../identity/internal-token.ts';
import { type Issuer, openIssuer } from '../identity/issuer.ts';
import { type Health, watchHealth } from '../observability/health.ts';
import { createMetrics, type Metrics } from '../observability/metrics.ts';
import { measureStore } from '../observability/store-metrics.ts';
import {
  type ConfigurationCopy,
  defaultConfiguration,
  openConfigurationCopy,
  type SettingsAge,
} from '../settings/configuration-copy.ts';
import { measureCertificates } from '../tls/certificate-metrics.ts';
import { openServiceTls, type ServiceTls } from '../tls/service-tls.ts';

/** The resources from which a service makes its parts. The kit is closed when the service stops. */
export interface Kit<Own, Settings> {
  config: ServiceConfig & Own;
  log: Logger;
  metrics: Metrics;
  runtime: Runtime;
  /** Records spans; undefined unless the configuration says where they are sent. */
  tracer: Tracer | undefined;
  /** The database of the service. Errors: reading it throws if the service's entry says that it has none. */
  database: Database;
  /**
   * The requests with an `Idempotency-Key` that the service has processed. Their responses must be erased with the data
   * that they describe. Errors: as of `database`.
   */
  idempotency: IdempotencyStore;
  /** How much space the disk of the database has. Errors: as of `database`. */
  space: FreeSpace;
  /** The record of who changed and deleted what, for the methods whose contract says so. Errors: as of `database`. */
  audit: AuditLog;
  /**
   * Makes requests to addresses that clients configure or send. Errors: reading it throws if the service's entry does not
   * say that it makes such requests.
   */
  outbound: OutboundGuard;
  /** The bytes of the pages of results that this process holds. Every list whose pages can be large takes from it. */
  pages: PageBudget;
  /** Reads and writes JSON that may be large, in the one thread of the process for it. */
  json: LargeJson;
  issuer: Issuer;
  tokens: InternalTokens;
  tls: ServiceTls;
  health: Health;
  /**
   * Reads the settings that the service uses, by default recent ones.
   * Errors: store_unavailable; settings_unavailable for those of the owner.
   */
  settings(age?: SettingsAge): Promise<Settings>;
  /** The copy of the installation's configuration; undefined for a service whose entry does not read settings. */
  configuration: ConfigurationCopy | undefined;
  /** The limits of its servers. */
  limits: ServerLimits;
  /** Opens a client of another service. Errors: a service that the entry does not list among its calls. */
  openClient<Service extends DescService>(
    service: string,
    contract: Service,
    options: ClientOptions,
  ): (call?: OnBehalfOf) => Client<Service>;
  /**
   * Erases the stored responses about a deleted ticket, and confirms to the tickets service that this service has
   * erased all its data of the ticket. Errors: store_unavailable; those of the tickets service, as ConnectError.
   */
  confirmErasure(ticketId: number, call: OnBehalfOf): Promise<void>;
  /** Wakes the relay of this process, if it has one, so that new events are sent at once. */
  wakeRelay(): void;
  /** Aborts when the service begins to stop its background work. */
  stopping: AbortSignal;
  /** Aborts when the servers have drained and begin to close: responses that have no end must end then. */
  closing: AbortSignal;
  /** Registers a resource to close when the service stops, before everything that was opened earlier. */
  onClose(close: () => Promise<void> | void): void;
}

/** How another service is called. */
export interface ClientOptions {
  timeoutMs: number;
  maxResponseBytes?: number;
}

/** Parts of a kit that tests replace. */
export interface KitOverrides<Settings> {
  runtime?: Runtime;
  limits?: Partial<ServerLimits>;
  pageLimits?: Partial<PageLimits>;
  readDisk?: ReadDisk;
  settings?: (age?: SettingsAge) => Promise<Settings>;
}

/** The inputs from which a kit is made. */
export interface KitOptions<Own, Settings> {
  entry: ServiceEntry;
  config: ServiceConfig & Own;
  log: Logger;
  runtime: Runtime;
  limits: ServerLimits;
  pageLimits: Partial<PageLimits> | undefined;
  /** Replaces the disk of the database in a test. */
  readDisk: ReadDisk | undefined;
  /** Picks the settings of the service from the configuration of the installation. */
  readSettings(configuration: Configuration): Settings;
  /** Replaces the settings in a test. */
  settings: ((age?: SettingsAge) => Promise<Settings>) | undefined;
  wakeRelay(): void;
  /** Aborts when the background work has to end. */
  stopping: AbortSignal;
  /** Aborts when the servers begin to close. */
  closing: AbortSignal;
}

/** Opens the parts that every service has. `opened` closes them in the reverse order. */
export async function openKit<Own, Settings>(
  options: KitOptions<Own, Settings>,
  opened: AsyncDisposableStack,
): Promise<Kit<Own, Settings>> {
  const { entry, config, log } = options;
  const tracer = config.traces && (await openTracer(entry.name, config.traces, log));
  if (tracer) opened.defer(() => tracer.close());
  const tls = openServiceTls(config.tls, log, options.limits);
  opened.defer(() => tls.close());
  const tokens = await internalTokens(entry.name, config.signingKeyFile);
  const issuer = openIssuer(config.issuer, log);
  opened.defer(() => issuer.keys.close());
  const database =
    config.store && openDatabase(config.store.mongodbUri, config.store.database, warnUnreachable(log), { tracer });
  if (database) opened.defer(() => database.close());
  const outbound = config.outbound && outboundGuard(config.outbound);
  if (outbound) opened.defer(() => outbound.close());
  const idempotency = database && openIdempotencyStore(database.connection);
  const audit = database && openAuditLog(database.connection, entry.name);
  const space = database && watchFreeSpace(options.readDisk ?? (() => readDisk(database)), config.store?.reserveBytes);
  if (space) opened.defer(() => space.close());
  const maxQueuedBytes = config.maxBodyBytesInFlight;
  const json = openLargeJson({ maxQueuedBytes, maxQueuedBytesPerCaller: maxQueuedBytes * callerShare });
  opened.defer(() => json.close());
  const checks = {
    ...(database ? { mongodb: () => database.check() } : {}),
    issuer: () => issuer.keys.check(),
  };
  const health = watchHealth(checks);
  opened.defer(() => health.close());
  const metrics = createMetrics(entry.name);
  for (const [name, check] of Object.entries(checks)) metrics.measureDependency(name, check);
  measureCertificates(tls, config.bus, metrics.registry);
  if (database && space) measureStore(database, space, metrics.registry, options.runtime);
  const openClient: Kit<Own, Settings>['openClient'] = (service, contract, { timeoutMs, maxResponseBytes }) => {
    const target = config.targets.get(service);
    if (target === undefined) throw new Error(`The ${entry.name} service does not call ${service}.`);
    const transport = createGrpcTransport({
      target,
      tls,
      services: [contract],
      defaultTimeoutMs: timeoutMs,
      ...(maxResponseBytes === undefined ? {} : { readMaxBytes: maxResponseBytes }),
    });
    opened.defer(() => transport.close());
    const forwardsCallers = entry.forwardsCallersTo.includes(service);
    return serviceClient(contract, { audience: service, transport, tokens, forwardsCallers, tracer });
  };
  const snapshots =
    entry.keepsTicketData && entry.calls.includes('tickets')
      ? openClient('tickets', SnapshotService, { timeoutMs: 10_000 })
      : undefined;
  const { readSettings, readDisk: _, ...shared } = options;
  const configuration =
    entry.readsSettings && database
      ? openConfigurationCopy(database.connection, openClient('settings', ConfigurationService, { timeoutMs: 5_000 }))
      : undefined;
  return {
    ...shared,
    configuration,
    settings:
      options.settings ??
      (async (age) => readSettings(configuration ? await configuration.read(age) : defaultConfiguration)),
    metrics,
    tracer,
    pages: openPageBudget(options.pageLimits),
    json,
    issuer,
    tokens,
    tls,
    health,
    get database() {
      if (!database) throw noDatabase(entry);
      return database;
    },
    get idempotency() {
      if (!idempotency) throw noDatabase(entry);
      return idempotency;
    },
    get audit() {
      if (!audit) throw noDatabase(entry);
      return audit;
    },
    get space() {
      if (!space) throw noDatabase(entry);
      return space;
    },
    get outbound() {
      if (!outbound) throw new Error(`The ${entry.name} service makes no outbound requests.`);
      return outbound;
    },
    openClient,
    async confirmErasure(ticketId, call) {
      await idempotency?.eraseAbout({ kind: 'Ticket', id: ticketId });
      await snapshots?.(call).confirmErasure({ ticketId });
    },
    onClose: (close) => opened.defer(close),
  };
}

/** Loads the tracer only where it is used, because it takes some MB of memory. */
async function openTracer(service: string, config: TracesConfig, log: Logger): Promise<Tracer> {
  const { openOtlpTracer } = await import('../observability/otlp-tracer.ts');
  return openOtlpTracer(service, config, log);
}

function noDatabase({ name }: ServiceEntry): Error {
  return new Error(`The ${name} service has no database.`);
}

function warnUnreachable(log: Logger): (error: unknown) => void {
  return (error) => log.warn({ err: error }, 'the database is unreachable');
}
