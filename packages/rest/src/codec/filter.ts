import { type JsonValue, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Filter } from '@ticketing/contracts/ticketing/api/v1/filter_pb.ts';
import { DomainError, type Violation } from '@ticketing/errors/domain-error.ts';
import { isDateInRange, parseDateTime } from './date-time.ts';

/** A filter of a request. Absent values are undefined. */
interface FilterInput {
  key: string;
  comparator: string;
  value: JsonValue | undefined;
  values: readonly JsonValue[];
  from: JsonValue | undefined;
  to: JsonValue | undefined;
}

/** The type of a key's values, which determines the comparators that it accepts. */
export type FilterKind = 'integer' | 'text' | 'enum' | 'time' | 'boolean' | 'words';

/** A key that a filter may use. */
export interface FilterKey {
  kind: FilterKind;
  /** Whether the key has several values; a condition is met if one of them meets it. */
  isList?: boolean;
  /** For an enum: the stored value of each spelling. Stored numbers are ranks, in the order of the enum. */
  spellings?: ReadonlyMap<string, string | number>;
}

/** A value as it is stored; times are in Unix seconds. */
export type FilterValue = string | number | boolean;

/** A condition that has been checked against its key. */
export type Condition =
  | { key: string; operator: '<' | '<=' | '>' | '>='; value: FilterValue }
  | { key: string; operator: 'in' | 'notIn'; values: readonly FilterValue[]; orUnset: boolean }
  | { key: string; operator: 'between'; from: FilterValue; to: FilterValue }
  | { key: string; operator: 'like'; pattern: string };

const maxValueLength = 512;
const endOfDay = 86_399;

/**
 * Checks the filters of a request against the allowed keys, and reads their values. `defaultPrefix` is put before a key
 * that is unknown without it.
 *
 * `=` and `!=` become lists of one value. If the key is unset in a document, `in` matches the document only if null is
 * listed, `=` never matches it, and `not in` and `!=` match it unless null is listed.
 * Errors: invalid_filter, with a violation for each problem.
 * Source: docs/reference/api.md, Filters.
 */
export function readFilters(
  filters: readonly Filter[],
  keys: ReadonlyMap<string, FilterKey>,
  defaultPrefix = '',
): Condition[] {
  const violations: Violation[] = [];
  const conditions = filters.map(filterInput).flatMap((filter, index): Condition[] => {
    const at = `#/filters/${index}`;
    const name = keys.has(filter.key) ? filter.key : defaultPrefix + filter.key;
    const key = keys.get(name);
    if (!key) {
      violations.push({ pointer: `${at}/key`, code: 'unknown_filter_key', detail: 'is not a filter key' });
      return [];
    }
    const reader = new ValueReader(key, at, violations);
    const condition = checkFilter({ ...filter, key: name }, key, reader);
    return condition ? [condition] : [];
  });
  if (violations.length > 0) {
    const [first] = violations;
    const detail =
      violations.length === 1 && first ? `${first.pointer} ${first.detail}.` : 'Some filters are not valid.';
    throw new DomainError('invalid_argument', 'invalid_filter', detail, { violations });
  }
  return conditions;
}

/** Whether the stored value of an enum meets a condition. */
export function matchesValue(condition: Condition, value: string | number): boolean {
  switch (condition.operator) {
    case 'in':
      return condition.values.includes(value);
    case 'notIn':
      return !condition.values.includes(value);
    case 'between':
      return value >= condition.from && value <= condition.to;
    case '<':
      return value < condition.value;
    case '<=':
      return value <= condition.value;
    case '>':
      return value > condition.value;
    case '>=':
      return value >= condition.value;
    case 'like':
      throw new Error('like works on text keys only');
  }
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

function checkFilter(filter: FilterInput, key: FilterKey, reader: ValueReader): Condition | undefined {
  const comparator = filter.comparator === 'equal' ? '=' : filter.comparator;
  if (key.kind === 'words' && comparator !== '=') return reader.refuse('comparator', 'must be = for this key');
  switch (comparator) {
    case '=':
    case '!=': {
      if (filter.value === undefined) return reader.missing('value');
      const isNull = filter.value === null;
      const value = isNull ? undefined : reader.read(filter.value, 'value', 0);
      const values = value === undefined ? [] : [value];
      return comparator === '='
        ? { key: filter.key, operator: 'in', values, orUnset: false }
        : { key: filter.key, operator: 'notIn', values, orUnset: !isNull };
    }
    case 'in':
    case 'not in': {
      if (filter.values.length === 0) return reader.missing('values');
      const values = filter.values.flatMap((value, index) =>
        value === null ? [] : (reader.read(value, `values/${index}`, 0) ?? []),
      );
      const hasNull = filter.values.includes(null);
      return comparator === 'in'
        ? { key: filter.key, operator: 'in', values, orUnset: hasNull }
        : { key: filter.key, operator: 'notIn', values, orUnset: !hasNull };
    }
    case '<':
    case '<=':
    case '>':
    case '>=': {
      if (key.kind === 'boolean') return reader.refuse('comparator', 'cannot be used with a boolean key');
      const value = reader.read(filter.value, 'value', comparator === '<=' || comparator === '>' ? endOfDay : 0);
      return value === undefined ? undefined : { key: filter.key, operator: comparator, value };
    }
    case 'between': {
      if (key.kind === 'boolean') return reader.refuse('comparator', 'cannot be used with a boolean key');
      const from = reader.read(filter.from, 'from', 0);
      const to = reader.read(filter.to, 'to', endOfDay);
      return from === undefined || to === undefined ? undefined : { key: filter.key, operator: 'between', from, to };
    }
    case 'like': {
      if (key.kind !== 'text') return reader.refuse('comparator', 'works on text keys only');
      const pattern = reader.read(filter.value, 'value', 0);
      return typeof pattern === 'string' ? { key: filter.key, operator: 'like', pattern } : undefined;
    }
    default:
      return reader.refuse('comparator', 'is not known');
  }
}

/** Reads the values of one filter and collects the violations. */
class ValueReader {
  readonly #key: FilterKey;
  readonly #at: string;
  readonly #violations: Violation[];

  constructor(key: FilterKey, at: string, violations: Violation[]) {
    this.#key = key;
    this.#at = at;
    this.#violations = violations;
  }

  refuse(part: string, detail: string, code = 'invalid_filter_value'): undefined {
    this.#violations.push({ pointer: `${this.#at}/${part}`, code, detail });
  }

  missing(part: string): undefined {
    return this.refuse(part, 'is required by this comparator', 'required');
  }

  /** `daySeconds` is added to a date without a time. */
  read(value: JsonValue | undefined, part: string, daySeconds: number): FilterValue | undefined {
    if (value === undefined || value === null) return this.missing(part);
    if (typeof value === 'string' && [...value].length > maxValueLength) {
      return this.refuse(part, `is longer than ${maxValueLength} characters`, 'too_long');
    }
    const read = this.#readKind(value, daySeconds);
    return read ?? this.refuse(part, this.#expected());
  }

  #readKind(value: JsonValue, daySeconds: number): FilterValue | undefined {
    switch (this.#key.kind) {
      case 'integer':
        return readInteger(value);
      case 'time': {
        if (typeof value === 'number') return isDateInRange(value) ? value : undefined;
        if (typeof value !== 'string') return undefined;
        const date = parseDateTime(value);
        return date && date.seconds + (date.isDay ? daySeconds : 0);
      }
      case 'boolean':
        return value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined;
      case 'enum':
        return typeof value === 'string' ? this.#key.spellings?.get(value) : undefined;
      case 'text':
      case 'words':
        return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
    }
  }

  #expected(): string {
    switch (this.#key.kind) {
      case 'integer':
        return 'must be an integer';
      case 'time':
        return 'must be a date that exists, or Unix seconds';
      case 'boolean':
        return 'must be true or false';
      case 'enum':
        return `must be one of: ${[...(this.#key.spellings?.keys() ?? [])].join(', ')}`;
      default:
        return 'must be a text';
    }
  }
}

function readInteger(value: JsonValue): number | undefined {
  if (typeof value === 'string' && !/^-?\d{1,15}$/.test(value)) return undefined;
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}
