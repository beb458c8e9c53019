import { buildErasedIdIndexes } from '@ticketing/store/erased-ids.ts';
import type { Connection } from 'mongoose';
import { buildEventIndexes } from './feed/store.ts';
import { buildConfigurationIndexes } from './setting/store.ts';
import { buildDeliveryIndexes } from './webhook/delivery/schema.ts';
import { buildWebhookIndexes } from './webhook/store.ts';

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
