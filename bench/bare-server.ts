import { fastify } from 'fastify';
import { mongo } from 'mongoose';
import { bareDatabase, idOf } from './dataset.ts';

/**
 * The work of the system's operations without the system: a Fastify route, the driver, and JSON. What it reads and
 * writes is what a ticket needs to be read and written, by the same indexes.
 */
const [uri = ''] = process.argv.slice(2);
/** As much of a ticket's document as the routes name. */
interface Kept {
  _id: number;
  version: number;
  priority: number;
  status: string;
  createdAt: Date;
  modifiedAt: Date;
  queueGroup: number;
  queueKeys: { sla: string };
}

const client = await mongo.MongoClient.connect(uri, { maxPoolSize: 50 });
const tickets = client.db(bareDatabase).collection<Kept>('tickets');
const app = fastify({ logger: false, bodyLimit: 50_000_000 });

const unread = { words: 0, outbox: 0, worklog: 0 } as const;
const unlisted = { ...unread, body: 0, bodyPlain: 0, bodyClean: 0, workitem: 0, rawData: 0 } as const;
const place = 'queueKeys.sla';
const group = 0;
let template: Kept | null = null;
let nextId = 50_000_000;

app.get<{ Params: { id: string } }>('/ticket/:id', async ({ params }) => {
  const document = await tickets.findOne({ _id: Number(params.id) }, { projection: unread });
  const key = document?.queueKeys.sla ?? '';
  const [previous, next] = await Promise.all([beside('$lt', -1, key), beside('$gt', 1, key)]);
  return { ...document, previous, next };
});

app.post<{ Body: { limit: number; before: number } }>('/ticket/search', async ({ body }) => ({
  tickets: await tickets
    .find({ status: 'open', createdAt: { $lt: new Date(body.before) } }, { projection: unlisted })
    .sort({ createdAt: -1, _id: -1 })
    .limit(body.limit)
    .toArray(),
}));

app.post<{ Body: object }>('/ticket', async ({ body }) => {
  template ??= (await tickets.findOne({})) as Kept;
  const document: Kept = Object.assign({ ...template }, body, { _id: nextId++ });
  await tickets.insertOne(document as Kept);
  return document;
});

app.patch<{ Params: { id: string }; Body: { priority: string } }>('/ticket/:id', async ({ params, body }) => {
  const change = { $set: { priority: body.priority.length, modifiedAt: new Date() }, $inc: { version: 1 } };
  const options = { returnDocument: 'after', projection: unread } as const;
  return tickets.findOneAndUpdate({ _id: Number(params.id) }, change, options);
});

app.post<{ Body: { ticketId?: number } }>('/ticket/getLatest', async ({ body }) => {
  const current = await tickets.findOne({ _id: body.ticketId ?? idOf(1) }, { projection: { [place]: 1 } });
  const key = current?.queueKeys.sla ?? '';
  const [earliest, previous, next] = await Promise.all([
    beside('$gt', 1, ''),
    beside('$lt', -1, key),
    beside('$gt', 1, key),
  ]);
  return { earliest, previous, next };
});

async function beside(operator: '$lt' | '$gt', direction: 1 | -1, key: string): Promise<number | undefined> {
  const filter = { queueGroup: group, [place]: { [operator]: key } };
  const found = await tickets.findOne(filter, { sort: { [place]: direction }, projection: { [place]: 1 } });
  return found?._id;
}

const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ port: Number(new URL(address).port) });
process.on('SIGTERM', () => process.exit(0));
process.once('disconnect', () => process.exit(0));
