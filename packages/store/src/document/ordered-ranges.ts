import type { Query } from './field-query.ts';

/** The order of a list: a key, and a direction. Ties break by id in the same direction. */
export interface Order {
  key: string;
  direction: 1 | -1;
}

/** A part of an ordered list that one index range can read. */
export interface Segment {
  match: Query;
  /** The field that orders the segment; `_id` if it is ordered by id only. */
  field: string;
}

/**
 * Returns the segments of an order by a field. Unset values come last in both directions; MongoDB sorts them as the
 * lowest.
 */
export function segmentsOfField(field: string, isNeverUnset: boolean): Segment[] {
  if (isNeverUnset) return [{ match: {}, field }];
  return [
    { match: { [field]: { $ne: null } }, field },
    { match: { [field]: null }, field: '_id' },
  ];
}

/** The last item of a page: its segment, its value in the order, and its id. */
export interface Position {
  segment: number;
  value: unknown;
  id: number;
}

/** A range that one find reads: what it matches in addition to the filters, and how it sorts. */
export interface Range {
  segment: number;
  match: Query;
  field: string;
  sort: Record<string, 1 | -1>;
}

/**
 * Lists the ranges after a position, in order; each can be read from one index. First come the items with the same value
 * and a later id, then those with later values.
 */
export function rangesAfter(segments: readonly Segment[], order: Order, position: Position | undefined): Range[] {
  const after = order.direction === 1 ? '$gt' : '$lt';
  const sortBy = (field: string): Record<string, 1 | -1> =>
    field === '_id' ? { _id: order.direction } : { [field]: order.direction, _id: order.direction };
  return segments.flatMap(({ match, field }, segment): Range[] => {
    const sort = sortBy(field);
    if (!position || segment > position.segment) return [{ segment, match, field, sort }];
    if (segment < position.segment) return [];
    const laterId = { _id: { [after]: position.id } };
    if (field === '_id') return [{ segment, match: { $and: [match, laterId] }, field, sort }];
    return [
      { segment, match: { [field]: position.value, ...laterId }, field, sort: { _id: order.direction } },
      { segment, match: { [field]: { [after]: position.value } }, field, sort },
    ];
  });
}
