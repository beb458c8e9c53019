import { toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Filter } from '@ticketing/contracts/ticketing/api/v1/filter_pb.ts';
import { type Condition, checkFilters, type FilterInput } from '../domain/filter.ts';
import { filterKeys } from '../domain/ticket-keys.ts';

/** Reads the filters of a request. Errors: invalid_filter. Source: decisions.md section 4. */
export function readFilters(filters: readonly Filter[]): Condition[] {
  return checkFilters(filters.map(filterInput), filterKeys);
}

function filterInput(filter: Filter): FilterInput {
  const json = (value: Filter['value']) => (value === undefined ? undefined : toJson(ValueSchema, value));
  return {
    key: filter.key,
    comparator: filter.comparator,
    value: json(filter.value),
    values: filter.values.map((value) => toJson(ValueSchema, value)),
    from: json(filter.from),
    to: json(filter.to),
  };
}
