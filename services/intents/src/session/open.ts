import type { Client } from '@connectrpc/connect';
import type { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { ErasedIds } from '@ticketing/store/ids/erased-ids.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import { type SessionStore, sessionStore } from './store.ts';

/** The dependencies of the handlers of sessions. */
export interface SessionContext {
  sessions: SessionStore;
  snapshots(call: OnBehalfOf): Client<typeof SnapshotService>;
  pages: PageBudget;
}

/** Opens the sessions. */
export function openSessions(
  { database, pages, runtime }: Pick<Kit<unknown, unknown>, 'database' | 'pages' | 'runtime'>,
  { snapshots }: Pick<SessionContext, 'snapshots'>,
  deletedTickets: ErasedIds,
): SessionContext {
  return { sessions: sessionStore(database.connection, deletedTickets, runtime), snapshots, pages };
}
