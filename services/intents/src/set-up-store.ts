import { buildErasedIdIndexes } from '@ticketing/store/ids/erased-ids.ts';
import type { Connection } from 'mongoose';
import { buildAgentIndexes } from './agent/store.ts';
import { buildAnalysisIndexes } from './detection/queue-store.ts';
import { buildIntentIndexes } from './intent/store.ts';
import { buildExampleIndexes } from './learning/example-store.ts';
import { buildModelIndexes } from './learning/model-store.ts';
import { buildSessionIndexes } from './session/store.ts';

/**
 * The collections with the ids of deleted objects: tickets, tags and templates may not be named here any more, and a
 * repeated request does not bring back an AI agent.
 */
export const erasedCollections = {
  tickets: 'erasedTickets',
  tags: 'deletedTags',
  templates: 'deletedTemplates',
  agents: 'deletedAiAgents',
};

/** Builds the missing indexes of this service's database. */
export async function setUpStore(connection: Connection): Promise<void> {
  await buildAgentIndexes(connection);
  await buildSessionIndexes(connection);
  await buildIntentIndexes(connection);
  await buildAnalysisIndexes(connection);
  await buildExampleIndexes(connection);
  await buildModelIndexes(connection);
  for (const collection of Object.values(erasedCollections)) await buildErasedIdIndexes(connection, collection);
}
