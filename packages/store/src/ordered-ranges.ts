import type { Query } from './field-query.ts';

/** The order of a list: a key, and a direction. Ties break by id in the same direction. */
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

/** The segments of an order by a field: unset is last in both directions, where MongoDB sorts it first when ascending. */
export function segmentsOfField(field: string, isNeverUnset: boolean): Segment[] {
  if (isNeverUnset) return [{ match: {}, field }];
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
 * Lists the ranges behind a position, in order; each is read by one index. Behind a value come first those that
 * share it, by id, then all others.
 */
export function rangesAfter(segments: readonly Segment[], order: Order, position: Position | undefined): Range[] {
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
