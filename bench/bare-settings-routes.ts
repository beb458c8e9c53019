import type { FastifyInstance } from 'fastify';
import type { mongo } from 'mongoose';
import { bareDatabase } from './dataset.ts';
import { bareEvents } from './feed-events.ts';

/** Adds the bare routes for what the settings service reads: a page of the feed, and the document of the settings. */
export function addSettingsRoutes(app: FastifyInstance, client: mongo.MongoClient): void {
  const events = client.db(bareDatabase).collection<{ _id: number }>(bareEvents);
  const configuration = client.db('ticketing_settings').collection<{ _id: number }>('configuration');

  app.get<{ Querystring: { after: string; limit: string } }>('/event', async ({ query }) => ({
    events: await events
      .find({ _id: { $gt: Number(query.after) } })
      .sort({ _id: 1 })
      .limit(Number(query.limit))
      .toArray(),
  }));

  app.get('/settings/category/routing', async () => ({ settings: await configuration.findOne({ _id: 1 }) }));
}
