import { setUpTopics } from '@ticketing/events/bus/set-up-topics.ts';
import { buildDeadLetterIndex } from '@ticketing/events/dead-letters/dead-letters.ts';
import { buildInboxIndex } from '@ticketing/events/inbox/inbox.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { buildAuditIndexes } from '@ticketing/store/audit/audit-log.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { setUpDatabase } from '@ticketing/store/connection/set-up-database.ts';
import { buildIdempotencyIndexes } from '@ticketing/store/idempotency/idempotency-store.ts';
import { consumedTopics, type ServiceEntry } from '@ticketing/system/services.ts';
import type { ServiceConfig } from '../config/service-config.ts';
import { isAudited } from '../config/service-config.ts';

type Connection = Database['connection'];
/** Creates the indexes that only one service has. No service uses a new database yet. */
type SetUpStore = (connection: Connection, isNew: boolean) => Promise<void>;

/** Creates the indexes of a service's database and its topics, where they are missing. */
export async function setUpService(
  entry: ServiceEntry,
  { store, bus, logLevel }: ServiceConfig,
  setUpStore: SetUpStore | undefined,
): Promise<void> {
  // Consumed topics are included: the first service that is set up creates a topic.
  const topics = [...entry.publishes, ...consumedTopics(entry)];
  const buildAll = (connection: Connection, isNew: boolean) => buildIndexes(entry, connection, setUpStore, isNew);
  const log = createLogger(entry.name, logLevel);
  await Promise.all([
    store && setUpDatabase(entry.name, store, buildAll),
    bus && topics.length > 0 && setUpTopics(entry.name, bus, topics, log),
  ]);
}

/** Creates all indexes of a service: those that follow from its description, and its own. */
export async function buildIndexes(
  entry: ServiceEntry,
  connection: Connection,
  setUpStore: SetUpStore | undefined,
  isNew: boolean,
): Promise<void> {
  await buildIdempotencyIndexes(connection);
  if (isAudited(entry)) await buildAuditIndexes(connection);
  if (consumedTopics(entry).length > 0) {
    await buildDeadLetterIndex(connection);
    await buildInboxIndex(connection);
  }
  await setUpStore?.(connection, isNew);
}
