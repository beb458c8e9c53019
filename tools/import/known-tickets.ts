import { UsageError } from '../cli/command.ts';
import type { ApiClient } from './api-client.ts';
import { objectsIn, parseJson } from './json.ts';
import { listReasons } from './problem.ts';

/** The most values that a filter may have, and the most tickets that a search returns. */
export const knownTicketsLimit = 500;

/** Returns the ids of the tickets that the system has for some of at most 500 external ids. */
export async function findKnownTickets(
  client: ApiClient,
  externalIds: readonly string[],
): Promise<Map<string, number>> {
  if (externalIds.length === 0) return new Map();
  const filters = [{ key: 't.externalTicketId', comparator: 'in', values: externalIds }];
  const body = JSON.stringify({ limit: knownTicketsLimit, filters });
  const response = await client.send({ method: 'POST', path: '/ticket/search', body, wantsBody: true });
  if (response.status >= 300)
    throw new UsageError(`POST /ticket/search was refused: ${listReasons(response).join('; ')}`);
  return new Map(
    objectsIn(parseJson(response.text), 'tickets').flatMap(({ externalTicketId, id }): [string, number][] =>
      typeof externalTicketId === 'string' && typeof id === 'number' ? [[externalTicketId, id]] : [],
    ),
  );
}
