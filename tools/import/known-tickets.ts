import type { ApiClient } from './api-client.ts';
import { objectsIn, parseJson } from './json.ts';
import { reasonsOf } from './problem.ts';
import { StopError } from './stop-error.ts';

/** The most values that a filter may have, and the most tickets that a search returns. */
export const knownTicketsLimit = 500;

/** Returns those of at most 500 external ids for which the system has a ticket. */
export async function findKnownTickets(client: ApiClient, externalIds: readonly string[]): Promise<Set<string>> {
  if (externalIds.length === 0) return new Set();
  const filters = [{ key: 't.externalTicketId', comparator: 'in', values: externalIds }];
  const body = JSON.stringify({ limit: knownTicketsLimit, filters });
  const response = await client.send({ method: 'POST', path: '/ticket/search', body, wantsBody: true });
  if (response.status >= 300) throw new StopError(`POST /ticket/search was refused: ${reasonsOf(response).join('; ')}`);
  const ids = objectsIn(parseJson(response.text), 'tickets').map((ticket) => ticket.externalTicketId);
  return new Set(ids.filter((id) => typeof id === 'string'));
}
