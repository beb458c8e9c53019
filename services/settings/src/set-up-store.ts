import { buildErasedIdIndexes } from '@ticketing/store/ids/erased-ids.ts';
import type { Connection } from 'mongoose';
import { buildEventIndexes } from './feed/store.ts';
import { buildSettingsIndexes } from './setting/store.ts';
import { buildDeliveryIndexes, erasedTicketCollection } from './webhook/delivery/schema.ts';
import { buildWebhookIndexes } from './webhook/store.ts';

/** Builds the missing indexes of this service's database. */
export async function setUpStore(connection: Connection): Promise<void> {
  await buildSettingsIndexes(connection);
  await buildEventIndexes(connection);
  await buildWebhookIndexes(connection);
  await buildDeliveryIndexes(connection);
  await buildErasedIdIndexes(connection, erasedTicketCollection);
}
