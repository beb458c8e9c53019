import type { Connection } from 'mongoose';
import { buildConfigurationIndexes } from './configuration-store.ts';
import { buildDeliveryIndexes } from './delivery-model.ts';
import { buildErasedTicketIndexes } from './erased-tickets.ts';
import { buildEventIndexes } from './event-store.ts';
import { buildWebhookIndexes } from './webhook-store.ts';

/** Builds the missing indexes of this service's database. */
export async function setUpStore(connection: Connection): Promise<void> {
  await buildConfigurationIndexes(connection);
  await buildEventIndexes(connection);
  await buildWebhookIndexes(connection);
  await buildDeliveryIndexes(connection);
  await buildErasedTicketIndexes(connection);
}
