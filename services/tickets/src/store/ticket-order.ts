import { customerActive, documentField, type Query } from './filter-query.ts';

/** The order of a list: a key of `orderKeys`, and a direction. Ties break by id in the same direction. */
export interface Order {
  key: string;
  direction: 1 | -1;
}

/** A part of an ordered list that one index range can read. */
export interface Segment {
  match: Query;
  /** The field that orders the segment; `_id` if the id alone does. */
  field: string;
}

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
 * Splits an order into segments that follow each other: MongoDB sorts unset first when ascending, and here it is last
 * in both directions.
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
  if (neverUnset.has(field)) return [{ match: {}, field }];
  return [
    { match: { [field]: { $ne: null } }, field },
    { match: { [field]: null }, field: '_id' },
  ];
}

/** Where a page ended: in which segment, and at which value and id. */
export interface Position {
  segment: number;
  value: unknown;
  id: number;
}

/** One find: what it matches beyond the filters, and how it sorts. */
export interface Range {
  segment: number;
  match: Query;
  field: string;
  sort: Record<string, 1 | -1>;
}

/**
 * Lists the ranges behind a position, in order; each is read by one index. Behind a value come first the tickets that
 * share it, by id, then all others.
 */
export function rangesBehind(segments: readonly Segment[], order: Order, position: Position | undefined): Range[] {
  const behind = order.direction === 1 ? '$gt' : '$lt';
  const sortOf = (field: string): Record<string, 1 | -1> =>
    field === '_id' ? { _id: order.direction } : { [field]: order.direction, _id: order.direction };
  return segments.flatMap(({ match, field }, segment): Range[] => {
    const sort = sortOf(field);
    if (!position || segment > position.segment) return [{ segment, match, field, sort }];
    if (segment < position.segment) return [];
    const laterId = { _id: { [behind]: position.id } };
    if (field === '_id') return [{ segment, match: { $and: [match, laterId] }, field, sort }];
    return [
      { segment, match: { [field]: position.value, ...laterId }, field, sort: { _id: order.direction } },
      { segment, match: { [field]: { [behind]: position.value } }, field, sort },
    ];
  });
}
