import { fastify } from 'fastify';
import { mongo } from 'mongoose';
import { addIntentRoutes } from './bare-intent-routes.ts';
import { addKnowledgeRoutes } from './bare-knowledge-routes.ts';
import { addSettingsRoutes } from './bare-settings-routes.ts';
import { addTemplateRoutes } from './bare-template-routes.ts';
import type { BareTicket } from './bare-tickets.ts';
import { bareDatabase } from './dataset.ts';
import { addOneRoundTripRoutes } from './one-round-trip-routes.ts';
import { addSameWorkRoutes } from './same-work-routes.ts';

/** Serves the bare routes: Fastify, the driver and JSON only. Its argument is the URI of the store. */
const [uri = ''] = process.argv.slice(2);
const client = await mongo.MongoClient.connect(uri, { maxPoolSize: 50 });
const tickets = client.db(bareDatabase).collection<BareTicket>('tickets');
const app = fastify({ logger: false, bodyLimit: 50_000_000 });
addSameWorkRoutes(app, tickets);
addSettingsRoutes(app, client);
addKnowledgeRoutes(app, client);
addTemplateRoutes(app);
addIntentRoutes(app, client);
await app.register(async (scope) => addOneRoundTripRoutes(scope, tickets), { prefix: '/one-round-trip' });

const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ port: Number(new URL(address).port) });
process.on('SIGTERM', () => process.exit(0));
process.once('disconnect', () => process.exit(0));
