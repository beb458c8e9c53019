import { buildErasedIdIndexes } from '@ticketing/store/erased-ids.ts';
import type { Connection } from 'mongoose';
import { buildConfigurationIndexes } from './configuration-store.ts';
import { buildDeliveryIndexes } from './delivery-model.ts';
import { buildEventIndexes } from './event-store.ts';
import { buildWebhookIndexes } from './webhook-store.ts';

/** The collection with the ids of deleted tickets, of whose deliveries nothing may be stored any more. */
export const erasedTicketCollection = 'erasedTickets';

/** Builds the missing indexes of this service's database. */
export async function setUpStore(connection: Connection): Promise<void> {
  await buildConfigurationIndexes(connection);
  await buildEventIndexes(connection);
  await buildWebhookIndexes(connection);
  await buildDeliveryIndexes(connection);
  await buildErasedIdIndexes(connection, erasedTicketCollection);
}
