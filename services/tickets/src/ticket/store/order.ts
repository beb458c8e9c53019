import { type Order, type Segment, segmentsOfField } from '@ticketing/store/document/ordered-ranges.ts';
import { customerActive, documentField } from './filter-query.ts';

/** The field of the document that orders a list by a key. For a list of ids, it has the smallest id. */
function orderField(key: string): string {
  if (key === 'tt.tagId') return 'minTagId';
  if (key === 'i.aiAgentId') return 'minAiAgentId';
  return documentField(key);
}

/** Fields that every ticket has. */
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
 * Splits an order into segments: the tickets of one segment come before those of the next.
 *
 * Units: `now` in Unix seconds; who is active depends on it.
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
