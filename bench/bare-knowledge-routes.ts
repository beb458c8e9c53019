import type { FastifyInstance } from 'fastify';
import type { mongo } from 'mongoose';
import { archived, knowledgeDatabase } from './knowledge-sources.ts';

/** Adds the bare route for the list of archived sources: the query by an index, and JSON. It counts nothing. */
export function addKnowledgeRoutes(app: FastifyInstance, client: mongo.MongoClient): void {
  const sources = client.db(knowledgeDatabase).collection<{ _id: number }>('sources');
  const byTime = { status: 1, modifiedAt: -1, _id: -1 } as const;
  let indexed: Promise<unknown> | undefined;
  app.get<{ Querystring: { limit: string; offset: string } }>('/knowledgeSource/archived', async ({ query }) => {
    indexed ??= sources.createIndex(byTime);
    await indexed;
    const projection = { titleWords: 0, textWords: 0, sourceHash: 0, version: 0, revision: 0, bytes: 0 };
    const items = await sources
      .find({ status: archived }, { projection })
      .sort({ modifiedAt: -1, _id: -1 })
      .skip(Number(query.offset))
      .limit(Number(query.limit))
      .toArray();
    return { items };
  });
}
