import type { Bus } from '@ticketing/events/bus/bus.ts';
import { openBus } from '@ticketing/events/bus/bus-config.ts';
import { tracedBus } from '@ticketing/events/bus/traced-bus.ts';
import { startConsumer } from '@ticketing/events/consumer/consumer.ts';
import { measureConsumer } from '@ticketing/events/consumer/consumer-metrics.ts';
import type { HandleEvents } from '@ticketing/events/consumer/event-handler.ts';
import { measureGroup } from '@ticketing/events/consumer/group-metrics.ts';
import { openDeadLetters } from '@ticketing/events/dead-letters/dead-letters.ts';
import { removeOldFromInbox } from '@ticketing/events/inbox/inbox.ts';
import { type Relay, startRelay } from '@ticketing/events/outbox/relay.ts';
import { measureOutboxes } from '@ticketing/events/outbox/relay-metrics.ts';
import { backOffMs } from '@ticketing/runtime/back-off.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { startWakefulLoop, type WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { AuditLog } from '@ticketing/store/audit/audit-log.ts';
import { describeServer } from '@ticketing/store/connection/store-config.ts';
import { openLastSeen } from '@ticketing/store/leases/last-seen.ts';
import { consumedTopics, type Role, type ServiceEntry } from '@ticketing/system/services.ts';
import type { ServiceConfig } from '../config/service-config.ts';
import { isAudited } from '../config/service-config.ts';
import { measureBackups } from '../observability/backup-metrics.ts';
import { watchRoles } from '../observability/role-metrics.ts';
import type { SettingsCopy } from '../settings/settings-copy.ts';
import { type Composition, toEventHandler } from './composition.ts';
import { type AnyKit, hasStore, type Kit } from './kit.ts';
import { type ScheduledTask, startSchedule } from './schedule.ts';

/** Starts the background work of the roles that a process has. Returns its relay, if it has one. */
export async function startBackground(
  entry: ServiceEntry,
  kit: AnyKit,
  composition: Composition,
  opened: AsyncDisposableStack,
): Promise<Relay | undefined> {
  const { config, health, log } = kit;
  const hasRole = (role: Role) => config.roles.includes(role);
  const { tasks = [], loops = [] } = composition;
  if (hasStore(kit)) watchStore(kit, opened);
  for (const { role, start } of loops) {
    if (!hasRole(role)) continue;
    const loop = await start();
    opened.defer(() => loop.stop());
  }
  const allTasks = hasRole('scheduler') ? [...tasks, ...(hasStore(kit) ? storeTasks(entry, kit) : [])] : [];
  const schedule = startSchedule(allTasks, health, log);
  opened.defer(() => schedule.stop());
  return hasStore(kit) ? startEvents(entry, kit, composition, opened) : undefined;
}

/** Measures the backups of a database, and which roles its service has. */
function watchStore({ config, database, metrics }: Kit<unknown, unknown>, opened: AsyncDisposableStack): void {
  const { roles, expectedRoles: expected } = config;
  const lastSeen = openLastSeen(database.connection);
  measureBackups(lastSeen, metrics.registry);
  const watching = watchRoles({ lastSeen, roles, expected, opened: database.opened }, metrics.registry);
  opened.defer(() => watching.stop());
}

/** Starts the consumer and the relay of a process. Returns the relay, if it has one. */
async function startEvents(
  entry: ServiceEntry,
  kit: Kit<unknown, unknown>,
  composition: Composition,
  opened: AsyncDisposableStack,
): Promise<Relay | undefined> {
  const { config, database, log, metrics, settingsCopy } = kit;
  const hasRole = (role: Role) => config.roles.includes(role);
  const { outboxes = [] } = composition;
  const handle = toEventHandler(kit, composition);
  if (outboxes.length > 0) measureOutboxes(outboxes, metrics.registry);
  const isConsumer = hasRole('consumer') && handle !== undefined;
  // Not in the consumer: a consumer that is gone would measure nothing.
  const measuresGroup = hasRole('scheduler') && handle !== undefined;
  const isRelay = hasRole('relay') && outboxes.length > 0;
  if (settingsCopy && hasRole('consumer')) {
    const refresher = startRefreshing(settingsCopy, kit);
    opened.defer(() => refresher.stop());
  }
  const bus = isRelay || isConsumer || measuresGroup ? await openTracedBus(entry, kit, opened) : undefined;
  if (!bus) return undefined;
  if (isConsumer) startConsuming(entry, kit, { bus, handle }, opened);
  if (measuresGroup) measureGroup(consumerGroup(entry, kit, bus), metrics.registry);
  if (!isRelay) return undefined;
  const relay = startRelay({ database, outboxes, bus, log });
  opened.defer(() => relay.stop());
  return relay;
}

async function openTracedBus(
  { name }: ServiceEntry,
  { config, log, metrics, tracer }: Kit<unknown, unknown>,
  opened: AsyncDisposableStack,
): Promise<Bus | undefined> {
  if (!config.bus) return undefined;
  const untraced = await openBus(config.bus, name, log);
  const bus = tracer ? tracedBus(untraced, tracer) : untraced;
  opened.defer(() => bus.close());
  if (!sharesServer(config)) metrics.measureDependency('bus', () => bus.check());
  return bus;
}

/** Whether the bus is in the same database server as the store: then both are down together, for one reason. */
function sharesServer({ bus, store }: Pick<ServiceConfig, 'bus' | 'store'>): boolean {
  return (
    bus?.kind === 'log' && store !== undefined && describeServer(bus.mongodbUri) === describeServer(store.mongodbUri)
  );
}

/** Tasks that remove expired documents which this package stores in the database of every service. */
function storeTasks(entry: ServiceEntry, kit: Kit<unknown, unknown>): ScheduledTask[] {
  const removeOldRequests = () => kit.idempotency.removeExpired();
  const removeOldEvents = () => removeOldFromInbox(kit.database.connection);
  return [
    { name: 'remove old requests', everyMs: 60_000, run: removeOldRequests },
    ...(consumedTopics(entry).length > 0
      ? [{ name: 'remove old events', everyMs: 3_600_000, run: removeOldEvents }]
      : []),
    ...(isAudited(entry) ? auditTasks(kit) : []),
  ];
}

const dayMs = 24 * 60 * 60_000;

/** Tasks that keep the audit log of a service. */
function auditTasks({ audit, config: { auditDays }, log, runtime }: Kit<unknown, unknown>): ScheduledTask[] {
  const removeOld = () => audit.removeOlderThan(runtime.now() - auditDays * dayMs);
  return [
    { name: 'append to the audit log', everyMs: 15_000, run: appendToAuditLog(audit, log) },
    ...(auditDays > 0 ? [{ name: 'remove old entries of the audit log', everyMs: 3_600_000, run: removeOld }] : []),
  ];
}

/**
 * Makes the task that appends to the audit log. It logs the last entry whenever there is a new one, also one that
 * another process or an operator's command has appended: a copy of this line elsewhere proves that no entry up to this
 * one was rewritten later.
 */
export function appendToAuditLog(audit: Pick<AuditLog, 'seal'>, log: Pick<Logger, 'info'>): () => Promise<void> {
  let logged = 0;
  return async () => {
    const end = await audit.seal();
    if (!end || end.number === logged) return;
    log.info({ number: end.number, hash: end.hash }, 'the audit log has new entries');
    logged = end.number;
  };
}

const refreshMs = 60 * 60_000;
const maxRetryMs = 60_000;

/** Reads the settings when the process starts and every hour, in case an event was removed before it arrived. */
function startRefreshing(
  settingsCopy: SettingsCopy,
  { database, log }: Pick<Kit<unknown, unknown>, 'database' | 'log'>,
): WakefulLoop {
  return startWakefulLoop({
    pollMs: { busy: refreshMs, idle: refreshMs },
    after: database.opened,
    async run() {
      await settingsCopy.refresh();
      return 'done';
    },
    onError(error, failures) {
      if (failures === 3) log.warn({ err: error }, 'the settings could not be read');
      return backOffMs(failures, { firstMs: 250, longestMs: maxRetryMs });
    },
  });
}

function startConsuming(
  entry: ServiceEntry,
  { database, log, metrics, tracer }: Kit<unknown, unknown>,
  { bus, handle }: { bus: Bus; handle: HandleEvents },
  opened: AsyncDisposableStack,
): void {
  const consumer = startConsumer({ ...consumerGroup(entry, { database }, bus), handle, log, tracer });
  opened.defer(() => consumer.stop());
  measureConsumer(consumer, metrics.registry);
}

/** Returns the consumer group of a service. */
function consumerGroup(entry: ServiceEntry, { database }: Pick<Kit<unknown, unknown>, 'database'>, bus: Bus) {
  const topics = consumedTopics(entry).map(({ name }) => name);
  return { bus, group: entry.name, topics, deadLetters: openDeadLetters(database.connection) };
}
