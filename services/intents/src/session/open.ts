import type { Client } from '@connectrpc/connect';
import type { AnalysisService } from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { ErasedIds } from '@ticketing/store/ids/erased-ids.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import { type SessionStore, sessionStore } from './store.ts';

/** The dependencies of the handlers of sessions. */
export interface SessionContext {
  sessions: SessionStore;
  /** The service of tickets that notes which of them have sessions. */
  tickets(call: OnBehalfOf): Client<typeof AnalysisService>;
  pages: PageBudget;
}

/** Opens the sessions. */
export function openSessions(
  { database, pages, runtime }: Pick<Kit<unknown, unknown>, 'database' | 'pages' | 'runtime'>,
  tickets: SessionContext['tickets'],
  deletedTickets: ErasedIds,
): SessionContext {
  return { sessions: sessionStore(database.connection, deletedTickets, runtime), tickets, pages };
}
