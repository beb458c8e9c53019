import { type Order, type Segment, segmentsOfField } from '@ticketing/store/ordered-ranges.ts';
import { customerActive, documentField } from './filter-query.ts';

/** The field of the document whose value orders a list by a key. Of several values it is the smallest. */
function orderField(key: string): string {
  if (key === 'tt.tagId') return 'minTagId';
  if (key === 'i.aiAgentId') return 'minAiAgentId';
  return documentField(key);
}

const neverUnset = new Set([
  '_id',
  'channel',
  'direction',
  'status',
  'priority',
  'aiSupportLevel',
  'createdAt',
  'modifiedAt',
]);

/**
 * Splits an order into segments that follow each other.
 *
 * Units: `now` in Unix seconds, for what depends on the time.
 */
export function segmentsOf(order: Order, now: number): Segment[] {
  if (order.key === 't.isCustomerActive') {
    const active: Segment = { match: customerActive(now), field: '_id' };
    const inactive: Segment = { match: { $nor: [customerActive(now)] }, field: '_id' };
    return order.direction === 1 ? [inactive, active] : [active, inactive];
  }
  const field = orderField(order.key);
  return segmentsOfField(field, neverUnset.has(field));
}
