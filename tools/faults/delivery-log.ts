import { type JsonObject, objectsIn } from '../import/json.ts';
import type { Caller } from './caller.ts';
import type { Endpoint } from './endpoints.ts';

/** The findings in the logs of deliveries to all endpoints. */
export interface LogVerdict {
  /** How many attempts show the response of the receiver. */
  responsesShown: number;
  /** A sentence for each delivery that is not made, or shows data that it must not show. */
  wrong: string[];
}

const pageSize = 500;

/** Reads the log of the deliveries to some endpoints. Nothing of a response may be left of a deleted ticket. */
export async function readDeliveryLog(
  caller: Caller,
  endpoints: readonly Endpoint[],
  isDeleted: (ticketId: number) => boolean,
): Promise<LogVerdict> {
  const verdict: LogVerdict = { responsesShown: 0, wrong: [] };
  for (const { id, name } of endpoints) {
    let cursor = '';
    do {
      const page = await caller.request('GET', `/webhook/${id}/delivery?limit=${pageSize}${cursor}`);
      for (const delivery of objectsIn(page, 'deliveries')) addDelivery(verdict, name, delivery, isDeleted);
      cursor = typeof page.nextCursor === 'string' ? `&cursor=${encodeURIComponent(page.nextCursor)}` : '';
    } while (cursor !== '');
  }
  if (verdict.responsesShown === 0) verdict.wrong.push('no delivery shows a response');
  return verdict;
}

/** Adds the findings in one delivery. */
export function addDelivery(
  verdict: LogVerdict,
  endpoint: string,
  delivery: JsonObject,
  isDeleted: (ticketId: number) => boolean,
): void {
  const { id, ticketId, status } = delivery;
  const shown = objectsIn(delivery, 'attempts').filter(
    ({ responseStart, address }) => responseStart !== null || address !== null,
  );
  verdict.responsesShown += shown.length;
  if (status !== 'delivered') verdict.wrong.push(`${endpoint}: delivery ${id} is ${status}`);
  if (shown.length > 0 && isDeleted(Number(ticketId))) {
    verdict.wrong.push(`${endpoint}: delivery ${id} shows a response or an address of the deleted ticket ${ticketId}`);
  }
}
