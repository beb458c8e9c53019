import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import type { mongo } from 'mongoose';
import { bareDatabase } from './dataset.ts';

/** An execution, and the backend system that is called. */
export interface BareExecution {
  ticketId: number;
  url: string;
}

const agent = new Agent({ keepAlive: false });

/** Adds the bare route for executions: an intent is written before and after the call, and then its ticket. */
export function addIntentRoutes(app: FastifyInstance, client: mongo.MongoClient): void {
  const intents = client.db(bareDatabase).collection<{ _id: number; ticketId: number; outcome?: unknown }>('intents');
  const tickets = client.db(bareDatabase).collection<{ _id: number }>('executedTickets');
  let id = 0;
  app.post<{ Body: BareExecution }>('/intent/execute', async ({ body: { ticketId, url } }) => {
    id += 1;
    const intentId = id;
    await intents.insertOne({ _id: intentId, ticketId });
    const outcome = { response: await call(url, JSON.stringify({ ticketId })), executedAt: new Date() };
    await intents.updateOne({ _id: intentId }, { $set: { outcome } });
    const intent = { id: intentId, outcome };
    await tickets.updateOne({ _id: ticketId }, { $set: { intent }, $inc: { version: 1 } }, { upsert: true });
    return outcome;
  });
}

async function call(url: string, body: string): Promise<string> {
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent }, (response) => resolve(buffer(response)));
    sent.on('error', reject);
    sent.end(body);
  });
  return bytes.toString();
}
