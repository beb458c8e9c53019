import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { type ErasedIds, erasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { type CursorCodec, openCursorCodec } from '@ticketing/store/paging/cursor.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import type { EventStore } from '../../feed/store.ts';
import type { WebhookStore } from '../store.ts';
import { erasedTicketCollection } from './schema.ts';
import type { DeliveryStore } from './store.ts';

/** The dependencies of the handlers of deliveries. */
export interface DeliveryParts {
  deliveries: DeliveryStore;
  webhooks: WebhookStore;
  events: EventStore;
  erasedTickets: ErasedIds;
  cursors: CursorCodec;
  pages: PageBudget;
  /** The dispatcher of this process, if it has one: it looks for deliveries, or for changes of endpoints too. */
  dispatcher: { wake(): void; wakeForEndpoints(): void };
  runtime: Runtime;
}

/** Opens the deliveries on the database of a kit. */
export function openDeliveries(
  kit: Pick<Kit<unknown, unknown>, 'config' | 'database' | 'pages' | 'runtime'>,
  parts: Pick<DeliveryParts, 'deliveries' | 'webhooks' | 'events' | 'dispatcher'>,
): DeliveryParts {
  const { runtime, pages } = kit;
  return {
    ...parts,
    erasedTickets: erasedIds(kit.database.connection, erasedTicketCollection, runtime.now),
    cursors: openCursorCodec(kit.config.signingKeyFile),
    pages,
    runtime,
  };
}
