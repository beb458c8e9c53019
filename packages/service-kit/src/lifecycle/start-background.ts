import type { Bus } from '@ticketing/events/bus/bus.ts';
import { openBus } from '@ticketing/events/bus/bus-config.ts';
import { startConsumer } from '@ticketing/events/consumer/consumer.ts';
import { measureConsumers } from '@ticketing/events/consumer/consumer-metrics.ts';
import { openDeadLetters } from '@ticketing/events/dead-letters/dead-letters.ts';
import { removeOldFromInbox } from '@ticketing/events/inbox/inbox.ts';
import { type Relay, startRelay } from '@ticketing/events/outbox/relay.ts';
import { measureOutboxes } from '@ticketing/events/outbox/relay-metrics.ts';
import type { ServiceEntry } from '@ticketing/system/services.ts';
import type { Composition } from './composition.ts';
import type { Kit } from './kit.ts';
import { type ScheduledTask, startSchedule } from './schedule.ts';

/** Starts the background work of a service's roles. Returns the relay, if there is one. */
export async function startBackground(
  entry: ServiceEntry,
  kit: Kit<unknown, unknown>,
  composition: Composition,
  opened: AsyncDisposableStack,
): Promise<Relay | undefined> {
  const { log, health, config } = kit;
  const has = (role: (typeof config.roles)[number]) => config.roles.includes(role);
  const { outboxes = [], handle, tasks = [], loops = [] } = composition;
  measureOutboxes(outboxes, kit.metrics.registry);
  const sends = has('relay') && outboxes.length > 0;
  const handles = has('consumer') && handle !== undefined;
  const bus = config.bus && (sends || handles) ? await openBus(config.bus, entry.name, log) : undefined;
  if (bus) opened.defer(() => bus.close());
  for (const loop of loops.filter(({ role }) => has(role)).map(({ start }) => start())) opened.defer(() => loop.stop());
  const allTasks = has('scheduler') ? [...tasks, ...kitTasks(entry, kit, composition)] : [];
  const schedule = startSchedule(allTasks, health, log);
  opened.defer(() => schedule.stop());
  if (bus && handles) startConsuming(entry, kit, { bus, handle }, opened);
  if (!bus || !sends) return undefined;
  const relay = startRelay({ database: kit.database, outboxes, bus, log });
  opened.defer(() => relay.stop());
  return relay;
}

/** Scheduled work of what the kit itself keeps in a service's database. */
function kitTasks(entry: ServiceEntry, kit: Kit<unknown, unknown>, { idempotency }: Composition): ScheduledTask[] {
  const removeInbox = () => removeOldFromInbox(kit.database.connection);
  return [
    ...(idempotency ? [{ name: 'remove old requests', everyMs: 60_000, run: () => idempotency.removeExpired() }] : []),
    ...(entry.consumes.length > 0 ? [{ name: 'remove old events', everyMs: 3_600_000, run: removeInbox }] : []),
  ];
}

function startConsuming(
  entry: ServiceEntry,
  { database, log, metrics }: Kit<unknown, unknown>,
  { bus, handle }: { bus: Bus } & Required<Pick<Composition, 'handle'>>,
  opened: AsyncDisposableStack,
): void {
  const deadLetters = openDeadLetters(database.connection);
  const topics = entry.consumes.map(({ name }) => name);
  const consumer = startConsumer({ bus, deadLetters, group: entry.name, topics, handle, log });
  opened.defer(() => consumer.stop());
  measureConsumers([consumer], deadLetters, metrics.registry);
}
