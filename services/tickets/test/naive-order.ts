import { compare, valuesOf } from './naive-filter.ts';
import type { NaiveTicket } from './naive-ticket.ts';

/** The ids of tickets in an order, written directly from docs/reference/api.md, Order and pages. For tests only. */
export function inOrder(
  tickets: readonly NaiveTicket[],
  orderByField: string,
  orderByDirection: 'asc' | 'desc',
  now: number,
): number[] {
  const sign = orderByDirection === 'asc' ? 1 : -1;
  const smallest = (ticket: NaiveTicket) => valuesOf(ticket, orderByField, now).sort(compare)[0];
  return [...tickets]
    .sort((left, right) => {
      const [a, b] = [smallest(left), smallest(right)];
      if (a === undefined || b === undefined) {
        if (a !== b) return a === undefined ? 1 : -1;
        return sign * (left.id - right.id);
      }
      return sign * (compare(a, b) || left.id - right.id);
    })
    .map(({ id }) => id);
}
