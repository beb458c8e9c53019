import type { FastifyInstance } from 'fastify';
import {
  type BareTicket,
  type BareTickets,
  compactProjection,
  fullProjection,
  openGroup,
  queueKey,
} from './bare-tickets.ts';
import { toId } from './dataset.ts';

const firstNewId = 50_000_000;

/** Adds routes that read and write what the system's operations read and write, by the same indexes. */
export function addSameWorkRoutes(app: FastifyInstance, tickets: BareTickets): void {
  app.get<{ Params: { id: string } }>('/ticket/:id', async ({ params }) => {
    const ticket = await tickets.findOne({ _id: Number(params.id) }, { projection: fullProjection });
    const key = ticket?.queueKeys.sla ?? '';
    const [previous, next] = await Promise.all([nearest(tickets, 'before', key), nearest(tickets, 'after', key)]);
    return { ...ticket, previous, next };
  });

  app.post<{ Body: { limit: number; before: number } }>('/ticket/search', async ({ body }) => ({
    tickets: await tickets
      .find({ status: 'open', createdAt: { $lt: new Date(body.before) } }, { projection: compactProjection })
      .sort({ createdAt: -1, _id: -1 })
      .limit(body.limit)
      .toArray(),
  }));

  addCreateRoute(app, tickets);

  app.patch<{ Params: { id: string }; Body: { priority: string } }>('/ticket/:id', async ({ params, body }) => {
    const change = { $set: { priority: body.priority.length, modifiedAt: new Date() }, $inc: { version: 1 } };
    const options = { returnDocument: 'after', projection: fullProjection } as const;
    return tickets.findOneAndUpdate({ _id: Number(params.id) }, change, options);
  });

  app.post<{ Body: { ticketId?: number } }>('/ticket/getLatest', async ({ body }) => {
    const current = await tickets.findOne({ _id: body.ticketId ?? toId(1) }, { projection: { [queueKey]: 1 } });
    const key = current?.queueKeys.sla ?? '';
    const [earliest, previous, next] = await Promise.all([
      nearest(tickets, 'after', ''),
      nearest(tickets, 'before', key),
      nearest(tickets, 'after', key),
    ]);
    return { earliest, previous, next };
  });
}

/** A created ticket is a copy of one that exists, with the fields of the request. */
function addCreateRoute(app: FastifyInstance, tickets: BareTickets): void {
  let template: BareTicket | undefined;
  let nextId = firstNewId;
  app.post<{ Body: Partial<BareTicket> }>('/ticket', async ({ body }) => {
    template ??= await anyTicket(tickets);
    const ticket = { ...template, ...body, _id: nextId++ };
    await tickets.insertOne(ticket);
    return ticket;
  });
}

async function anyTicket(tickets: BareTickets): Promise<BareTicket> {
  const ticket = await tickets.findOne({});
  if (!ticket) throw new Error('There is no ticket to copy.');
  return ticket;
}

/** The id of the open ticket nearest to a key of the queue. */
async function nearest(tickets: BareTickets, side: 'before' | 'after', key: string): Promise<number | undefined> {
  const range = side === 'before' ? { $lt: key } : { $gt: key };
  const found = await tickets.findOne(
    { queueGroup: openGroup, [queueKey]: range },
    { sort: { [queueKey]: side === 'before' ? -1 : 1 }, projection: { [queueKey]: 1 } },
  );
  return found?._id;
}
