import type { ApiClient } from './api-client.ts';
import { objectsIn, parseJson } from './json.ts';
import { reasonsOf } from './problem.ts';
import { StopError } from './stop-error.ts';

/** The most values that a filter takes, and the most tickets that a search answers. */
export const knownTicketsLimit = 500;

/** Answers which of at most 500 external ids the system has tickets for. */
export async function findKnownTickets(client: ApiClient, externalIds: readonly string[]): Promise<Set<string>> {
  if (externalIds.length === 0) return new Set();
  const filters = [{ key: 't.externalTicketId', comparator: 'in', values: externalIds }];
  const body = JSON.stringify({ limit: knownTicketsLimit, filters });
  const answer = await client.send({ method: 'POST', path: '/ticket/search', body, wantsBody: true });
  if (answer.status >= 300) throw new StopError(`POST /ticket/search is refused: ${reasonsOf(answer).join('; ')}`);
  const ids = objectsIn(parseJson(answer.text), 'tickets').map((ticket) => ticket.externalTicketId);
  return new Set(ids.filter((id) => typeof id === 'string'));
}
