import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import { setUpTopics } from '@ticketing/events/bus/set-up-topics.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { buildIndexes } from '@ticketing/store/build-indexes.ts';
import { idempotencyModel } from '@ticketing/store/idempotency-store.ts';
import { readTicketsConfig } from './config.ts';
import { analysisRequestModel } from './store/analysis-request-store.ts';
import { bulkModel } from './store/bulk-store.ts';
import { tagModel } from './store/tag-model.ts';
import { ticketModel } from './store/ticket-model.ts';

const models = [ticketModel, tagModel, bulkModel, analysisRequestModel, idempotencyModel];

/**
 * Makes what the tickets service needs outside of itself, where it is missing: the indexes of its store, and the topics
 * that it publishes to. Serving goes on meanwhile.
 *
 * Errors: a ConfigError; a database or a bus that does not answer within a minute.
 */
export async function setUp(environment?: Environment): Promise<void> {
  const config = readTicketsConfig(environment);
  await Promise.all([
    buildIndexes('tickets', config.store, async (connection) => {
      for (const model of models) await model(connection).createIndexes();
    }),
    setUpTopics('tickets', config.bus, [ticketChangedTopic, tagChangedTopic], createLogger('tickets', config.logLevel)),
  ]);
}

if (import.meta.main) await setUp();
