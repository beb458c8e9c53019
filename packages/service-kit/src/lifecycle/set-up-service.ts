import { setUpTopics } from '@ticketing/events/bus/set-up-topics.ts';
import { buildDeadLetterIndex } from '@ticketing/events/dead-letters/dead-letters.ts';
import { buildInboxIndex } from '@ticketing/events/inbox/inbox.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import type { Database } from '@ticketing/store/database.ts';
import { buildIdempotencyIndexes } from '@ticketing/store/idempotency-store.ts';
import { setUpDatabase } from '@ticketing/store/set-up-database.ts';
import { consumedTopics, type ServiceEntry } from '@ticketing/system/services.ts';
import type { ServiceConfig } from '../config/service-config.ts';

/** Creates the indexes of a service's database and its topics, where they are missing. */
export async function setUpService(
  entry: ServiceEntry,
  { store, bus, logLevel }: ServiceConfig,
  setUpStore: ((connection: Database['connection']) => Promise<void>) | undefined,
): Promise<void> {
  const consumed = consumedTopics(entry);
  // Also those that it consumes: whichever service is set up first creates a topic.
  const topics = [...entry.publishes, ...consumed];
  const buildAll = async (connection: Database['connection']) => {
    await buildIdempotencyIndexes(connection);
    if (consumed.length > 0) {
      await buildDeadLetterIndex(connection);
      await buildInboxIndex(connection);
    }
    await setUpStore?.(connection);
  };
  const log = createLogger(entry.name, logLevel);
  await Promise.all([
    store && setUpDatabase(entry.name, store, buildAll),
    bus && topics.length > 0 && setUpTopics(entry.name, bus, topics, log),
  ]);
}
