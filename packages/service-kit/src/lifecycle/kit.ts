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
import { type Runtime, systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import { type AuditLog, openAuditLog } from '@ticketing/store/audit/audit-log.ts';
import { type Database, openDatabase } from '@ticketing/store/connection/database.ts';
import { type FreeSpace, type ReadDisk, readDisk, watchFreeSpace } from '@ticketing/store/connection/free-space.ts';
import { type IdempotencyStore, openIdempotencyStore } from '@ticketing/store/idempotency/idempotency-store.ts';
import { openPageBudget, type PageBudget } from '@ticketing/store/paging/page-budget.ts';
import type { ServiceEntry } from '@ticketing/system/services.ts';
import { callerShare } from '../admission/bodies-in-flight.ts';
import { createGrpcTransport } from '../client/grpc-transport.ts';
import { type OnBehalfOf, serviceClient } from '../client/service-client.ts';
import { defaultServerLimits, type ServerLimits } from '../config/server-limits.ts';
import type { ServiceConfig } from '../config/service-config.ts';
import { type InternalTokens, internalTokens } from '../identity/internal-token.ts';
import { type Issuer, openIssuer } from '../identity/issuer.ts';
import { type Check, type Health, watchHealth } from '../observability/health.ts';
import { createMetrics, type Metrics } from '../observability/metrics.ts';
import { measureStore } from '../observability/store-metrics.ts';
import {
  defaultConfiguration,
  openSettingsCopy,
  type SettingsAge,
  type SettingsCopy,
} from '../settings/settings-copy.ts';
import { measureCertificates } from '../tls/certificate-metrics.ts';
import { openServiceTls, type ServiceTls } from '../tls/service-tls.ts';

/** The resources from which a service without a database makes its parts. The kit is closed when the service stops. */
export interface BareKit<Own> {
  config: ServiceConfig & Own;
  log: Logger;
  metrics: Metrics;
  runtime: Runtime;
  /** Records spans; undefined unless the configuration says where they are sent. */
  tracer: Tracer | undefined;
  /**
   * Makes requests to addresses that clients configure or send. Errors: reading it throws if the service's entry does not
   * say that it makes such requests.
   */
  readonly outbound: OutboundGuard;
  /** The bytes of the pages of results that this process holds. Every list whose pages can be large takes from it. */
  pages: PageBudget;
  /** Reads and writes JSON that may be large, in the one thread of the process for it. */
  json: LargeJson;
  issuer: Issuer;
  tokens: InternalTokens;
  tls: ServiceTls;
  health: Health;
  /** The limits of its servers. */
  limits: ServerLimits;
  /** Opens a client of another service. Errors: a service that the entry does not list among its calls. */
  openClient<Service extends DescService>(
    service: string,
    contract: Service,
    options: ClientOptions,
  ): (call?: OnBehalfOf) => Client<Service>;
  /** Wakes the relay of this process, if it has one, so that new events are sent at once. */
  wakeRelay(): void;
  /** Aborts when the service begins to stop its background work. */
  stopping: AbortSignal;
  /** Aborts when the servers have drained and begin to close: responses that have no end must end then. */
  closing: AbortSignal;
  /** Registers a resource to close when the service stops, before everything that was opened earlier. */
  onClose(close: () => Promise<void> | void): void;
}

/** The parts of a service that are in its database. */
export interface StoreParts {
  database: Database;
  /**
   * The requests with an `Idempotency-Key` that the service has processed. Their responses must be erased with the data
   * that they describe.
   */
  idempotency: IdempotencyStore;
  /** How much space the disk of the database has. */
  space: FreeSpace;
  /** The record of who changed and deleted what, for the methods whose contract says so. */
  audit: AuditLog;
}

/** The resources from which a service with a database makes its parts. */
export interface Kit<Own, Settings> extends BareKit<Own>, StoreParts {
  /**
   * Reads the settings that the service uses, by default recent ones.
   * Errors: store_unavailable; settings_unavailable for those of the owner.
   */
  settings(age?: SettingsAge): Promise<Settings>;
  /** The copy of the installation's settings; undefined for a service whose entry does not read settings. */
  settingsCopy: SettingsCopy | undefined;
  /**
   * Erases the stored responses about a deleted ticket, and confirms to the tickets service that this service has
   * erased all its data of the ticket. Errors: store_unavailable; those of the tickets service, as ConnectError.
   */
  confirmErasure(ticketId: number, call: OnBehalfOf): Promise<void>;
}

/** The kit of any service, as the lifecycle uses it. */
export type AnyKit = BareKit<unknown> | Kit<unknown, unknown>;

/** Whether a kit belongs to a service with a database. */
export function hasStore(kit: AnyKit): kit is Kit<unknown, unknown> {
  return 'database' in kit;
}

/** How another service is called. */
export interface ClientOptions {
  timeoutMs: number;
  maxResponseBytes?: number;
}

/** Parts of a kit that tests replace. */
export interface KitOverrides<Settings> extends PartOverrides {
  readDisk?: ReadDisk;
  settings?: (age?: SettingsAge) => Promise<Settings>;
}

interface PartOverrides {
  runtime?: Runtime;
  limits?: Partial<ServerLimits>;
}

/** The process of a service for which a kit is opened. */
export interface KitProcess<Own> {
  entry: ServiceEntry;
  config: ServiceConfig & Own;
  log: Logger;
  wakeRelay(): void;
  /** Aborts when the background work has to end. */
  stopping: AbortSignal;
  /** Aborts when the servers begin to close. */
  closing: AbortSignal;
}

/** The inputs from which the kit of a service with a database is made. */
export interface KitOptions<Own, Settings> {
  process: KitProcess<Own>;
  overrides: KitOverrides<Settings>;
  /** Picks the settings of the service from the configuration of the installation. */
  readSettings(configuration: Configuration): Settings;
}

/** Opens the parts of a service with a database. `opened` closes them in the reverse order. Errors: it has none. */
export async function openKit<Own, Settings>(
  { process, overrides, readSettings }: KitOptions<Own, Settings>,
  opened: AsyncDisposableStack,
): Promise<Kit<Own, Settings>> {
  const { entry } = process;
  const tracer = await openTracer(process, opened);
  const store = openStore(process, overrides.readDisk, tracer, opened);
  const { database, idempotency } = store;
  const parts = openParts(process, overrides, { tracer, checks: { mongodb: () => database.check() } }, opened);
  const kit = { ...(await parts), ...store };
  measureStore(database, store.space, kit.metrics.registry, kit.runtime);
  const confirmsErasure = entry.keepsTicketData && entry.calls.includes('tickets');
  const snapshots = confirmsErasure ? kit.openClient('tickets', SnapshotService, { timeoutMs: 10_000 }) : undefined;
  const settingsCopy = entry.readsSettings
    ? openSettingsCopy(database.connection, kit.openClient('settings', ConfigurationService, { timeoutMs: 5_000 }))
    : undefined;
  const readCopy = async (age?: SettingsAge) =>
    readSettings(settingsCopy ? await settingsCopy.read(age) : defaultConfiguration);
  const outbound = openOutbound(process, opened);
  return {
    ...kit,
    get outbound() {
      return outbound();
    },
    settingsCopy,
    settings: overrides.settings ?? readCopy,
    async confirmErasure(ticketId, call) {
      await idempotency.eraseAbout({ kind: 'Ticket', id: ticketId });
      await snapshots?.(call).confirmErasure({ ticketId });
    },
  };
}

/** Opens the parts of a service without a database. `opened` closes them in the reverse order. */
export async function openBareKit<Own>(
  process: KitProcess<Own>,
  overrides: PartOverrides,
  opened: AsyncDisposableStack,
): Promise<BareKit<Own>> {
  const tracer = await openTracer(process, opened);
  const parts = await openParts(process, overrides, { tracer, checks: {} }, opened);
  const outbound = openOutbound(process, opened);
  return {
    ...parts,
    get outbound() {
      return outbound();
    },
  };
}

function openStore(
  { entry, config: { store }, log }: KitProcess<unknown>,
  readDiskOf: ReadDisk | undefined,
  tracer: Tracer | undefined,
  opened: AsyncDisposableStack,
): StoreParts {
  if (!store) throw new Error(`The ${entry.name} service has no database.`);
  const warn = (error: unknown) => log.warn({ err: error }, 'the database is unreachable');
  const database = openDatabase(store.mongodbUri, store.database, warn, { tracer });
  opened.defer(() => database.close());
  const space = watchFreeSpace(readDiskOf ?? (() => readDisk(database)), store.reserveBytes);
  opened.defer(() => space.close());
  const { connection } = database;
  return {
    database,
    space,
    idempotency: openIdempotencyStore(connection),
    audit: openAuditLog(connection, entry.name),
  };
}

/** Opens the parts of any service. `checks` are those of its database. */
async function openParts<Own>(
  process: KitProcess<Own>,
  { runtime = systemRuntime, limits: limitOverrides }: PartOverrides,
  { tracer, checks: storeChecks }: { tracer: Tracer | undefined; checks: Readonly<Record<string, Check>> },
  opened: AsyncDisposableStack,
): Promise<Omit<BareKit<Own>, 'outbound'>> {
  const { entry, config, log, wakeRelay, stopping, closing } = process;
  const limits = { ...defaultServerLimits, ...limitOverrides };
  const tls = openServiceTls(config.tls, log, limits);
  opened.defer(() => tls.close());
  const tokens = await internalTokens(entry.name, config.signingKeyFile);
  const issuer = openIssuer(config.issuer, log);
  opened.defer(() => issuer.keys.close());
  const maxQueuedBytes = config.maxBodyBytesInFlight;
  const json = openLargeJson({ maxQueuedBytes, maxQueuedBytesPerCaller: maxQueuedBytes * callerShare });
  opened.defer(() => json.close());
  const checks = { ...storeChecks, issuer: () => issuer.keys.check() };
  const health = watchHealth(checks);
  opened.defer(() => health.close());
  const metrics = createMetrics(entry.name);
  for (const [name, check] of Object.entries(checks)) metrics.measureDependency(name, check);
  measureCertificates(tls, config.bus, metrics.registry);
  const parts = { config, log, runtime, limits, wakeRelay, stopping, closing };
  return {
    ...parts,
    ...{ tls, tokens, issuer, json, health, metrics, tracer },
    pages: openPageBudget(),
    openClient: clientOpener({ entry, config, tls, tokens, tracer }, opened),
    onClose: (close) => opened.defer(close),
  };
}

/** Opens the guard, if the service has one. The function returns it. Errors: an Error, if there is none. */
function openOutbound({ entry, config }: KitProcess<unknown>, opened: AsyncDisposableStack): () => OutboundGuard {
  const guard = config.outbound && outboundGuard(config.outbound);
  if (guard) opened.defer(() => guard.close());
  return () => {
    if (!guard) throw new Error(`The ${entry.name} service makes no outbound requests.`);
    return guard;
  };
}

function clientOpener(
  {
    entry,
    config,
    tls,
    tokens,
    tracer,
  }: Pick<BareKit<unknown>, 'config' | 'tls' | 'tokens' | 'tracer'> & {
    entry: ServiceEntry;
  },
  opened: AsyncDisposableStack,
): BareKit<unknown>['openClient'] {
  return (service, contract, { timeoutMs, maxResponseBytes }) => {
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
}

/** Opens the tracer. It is loaded only where it is used, because it takes some MB of memory. */
async function openTracer(
  { entry, config: { traces }, log }: KitProcess<unknown>,
  opened: AsyncDisposableStack,
): Promise<Tracer | undefined> {
  if (!traces) return undefined;
  const { openOtlpTracer } = await import('../observability/otlp-tracer.ts');
  const tracer = openOtlpTracer(entry.name, traces, log);
  opened.defer(() => tracer.close());
  return tracer;
}
