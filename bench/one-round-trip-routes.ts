import type { FastifyInstance } from 'fastify';
import { type BareTickets, fullProjection, openGroup, queueKey } from './bare-tickets.ts';

/**
 * Adds routes that send one command to the store for each request: the upper limit for the speed of an operation. There
 * is none for search and create, because the routes with the same work need only one command there.
 */
export function addOneRoundTripRoutes(app: FastifyInstance, tickets: BareTickets): void {
  app.get<{ Params: { id: string } }>('/ticket/:id', async ({ params }) =>
    tickets.findOne({ _id: Number(params.id) }, { projection: fullProjection }),
  );

  app.patch<{ Params: { id: string }; Body: { priority: string } }>('/ticket/:id', async ({ params, body }) => {
    const change = { $set: { priority: body.priority.length, modifiedAt: new Date() }, $inc: { version: 1 } };
    const { matchedCount } = await tickets.updateOne({ _id: Number(params.id) }, change);
    return { success: matchedCount === 1 };
  });

  app.post('/ticket/getLatest', async () => {
    const options = { sort: { [queueKey]: 1 }, projection: { [queueKey]: 1 } } as const;
    const first = await tickets.findOne({ queueGroup: openGroup }, options);
    return { earliest: first?._id };
  });
}
