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
  /** For words: whether a text has any. */
  hasWords?(text: string): boolean;
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
const withoutWords = 'query_without_words';

/**
 * Checks the filters of a request against the allowed keys, and reads their values. `defaultPrefix` is put before a key
 * that is unknown without it.
 *
 * `=` and `!=` become lists of one value. If the key is unset in a document, `in` matches the document only if null is
 * listed, `=` never matches it, and `not in` and `!=` match it unless null is listed.
 * Errors: invalid_filter, with a violation for each problem; query_without_words, if that is the only one.
 * Source: docs/reference/api.md, Filters.
 */
export function readFilters(
  filters: readonly Filter[],
  keys: ReadonlyMap<string, FilterKey>,
  defaultPrefix = '',
): Condition[] {
  const violations: Violation[] = [];
  const conditions = filters.map(fromProto).flatMap((filter, index): Condition[] => {
    const at = `#/filters/${index}`;
    const name = keys.has(filter.key) ? filter.key : defaultPrefix + filter.key;
    const key = keys.get(name);
    if (!key) {
      violations.push({ pointer: `${at}/key`, code: 'unknown_filter_key', detail: 'is not a filter key' });
      return [];
    }
    const condition = readCondition({ ...filter, key: name }, key.kind, new ValueReader(key, at, violations));
    return condition ? [condition] : [];
  });
  if (violations.length > 0) {
    const [first] = violations;
    const detail =
      violations.length === 1 && first ? `${first.pointer} ${first.detail}.` : 'Some filters are not valid.';
    const isWordless = violations.every(({ code }) => code === withoutWords);
    throw new DomainError('invalid_argument', isWordless ? withoutWords : 'invalid_filter', detail, { violations });
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

function fromProto(filter: Filter): FilterInput {
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

/** A comparator of the contract. */
interface Comparator {
  /** The kinds of keys that it works on, unless it works on all; `detail` refuses the others. */
  only?: { kinds: readonly FilterKind[]; detail: string };
  /** Builds the condition. Undefined if the reader has refused a value. */
  build(filter: FilterInput, reader: ValueReader): Condition | undefined;
}

const orderedKinds = {
  kinds: ['integer', 'text', 'enum', 'time'],
  detail: 'cannot be used with a boolean key',
} as const;

const comparators: ReadonlyMap<string, Comparator> = new Map<string, Comparator>([
  ['=', { build: equals('in') }],
  ['!=', { build: equals('notIn') }],
  ['in', { build: isListed('in') }],
  ['not in', { build: isListed('notIn') }],
  ['<', { only: orderedKinds, build: compares('<', 0) }],
  ['<=', { only: orderedKinds, build: compares('<=', endOfDay) }],
  ['>', { only: orderedKinds, build: compares('>', endOfDay) }],
  ['>=', { only: orderedKinds, build: compares('>=', 0) }],
  ['between', { only: orderedKinds, build: isBetween }],
  ['like', { only: { kinds: ['text'], detail: 'works on text keys only' }, build: isLike }],
]);

function readCondition(filter: FilterInput, kind: FilterKind, reader: ValueReader): Condition | undefined {
  const name = filter.comparator === 'equal' ? '=' : filter.comparator;
  if (kind === 'words' && name !== '=') return reader.refuse('comparator', 'must be = for this key');
  const comparator = comparators.get(name);
  if (!comparator) return reader.refuse('comparator', 'is not known');
  const { only } = comparator;
  if (only && !only.kinds.includes(kind)) return reader.refuse('comparator', only.detail);
  return comparator.build(filter, reader);
}

function equals(operator: 'in' | 'notIn'): Comparator['build'] {
  return ({ key, value: input }, reader) => {
    if (input === undefined) return reader.missing('value');
    const value = input === null ? undefined : reader.read(input, 'value', 0);
    const values = value === undefined ? [] : [value];
    return { key, operator, values, orUnset: operator === 'notIn' && input !== null };
  };
}

function isListed(operator: 'in' | 'notIn'): Comparator['build'] {
  return ({ key, values: inputs }, reader) => {
    if (inputs.length === 0) return reader.missing('values');
    const values = inputs.flatMap((input, index) =>
      input === null ? [] : (reader.read(input, `values/${index}`, 0) ?? []),
    );
    return { key, operator, values, orUnset: inputs.includes(null) === (operator === 'in') };
  };
}

/** `daySeconds` is added to a date without a time. */
function compares(operator: '<' | '<=' | '>' | '>=', daySeconds: number): Comparator['build'] {
  return ({ key, value: input }, reader) => {
    const value = reader.read(input, 'value', daySeconds);
    return value === undefined ? undefined : { key, operator, value };
  };
}

function isBetween({ key, from: first, to: last }: FilterInput, reader: ValueReader): Condition | undefined {
  const from = reader.read(first, 'from', 0);
  const to = reader.read(last, 'to', endOfDay);
  return from === undefined || to === undefined ? undefined : { key, operator: 'between', from, to };
}

function isLike({ key, value }: FilterInput, reader: ValueReader): Condition | undefined {
  const pattern = reader.read(value, 'value', 0);
  return typeof pattern === 'string' ? { key, operator: 'like', pattern } : undefined;
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
  read(input: JsonValue | undefined, part: string, daySeconds: number): FilterValue | undefined {
    if (input === undefined || input === null) return this.missing(part);
    if (typeof input === 'string' && [...input].length > maxValueLength) {
      return this.refuse(part, `is longer than ${maxValueLength} characters`, 'too_long');
    }
    const kind = kinds[this.#key.kind];
    if (typeof input === 'string' && this.#key.hasWords?.(input) === false) {
      return this.refuse(part, 'has no word to search for', withoutWords);
    }
    return kind.read(input, this.#key, daySeconds) ?? this.refuse(part, kind.expected(this.#key));
  }
}

/** The values of a kind of keys. */
interface Kind {
  /** Undefined if the input is no such value. `daySeconds` is added to a date without a time. */
  read(input: JsonValue, key: FilterKey, daySeconds: number): FilterValue | undefined;
  /** Describes the values in an error. */
  expected(key: FilterKey): string;
}

const text: Kind = {
  read: (input) => (typeof input === 'string' ? input : typeof input === 'number' ? String(input) : undefined),
  expected: () => 'must be a text',
};

const booleans: ReadonlyMap<JsonValue, boolean> = new Map<JsonValue, boolean>([
  [true, true],
  ['true', true],
  [false, false],
  ['false', false],
]);

const kinds: Record<FilterKind, Kind> = {
  integer: { read: readInteger, expected: () => 'must be an integer' },
  time: {
    read: (input, _key, daySeconds) => readTime(input, daySeconds),
    expected: () => 'must be a date that exists, or Unix seconds',
  },
  boolean: { read: (input) => booleans.get(input), expected: () => 'must be true or false' },
  enum: {
    read: (input, { spellings }) => (typeof input === 'string' ? spellings?.get(input) : undefined),
    expected: ({ spellings }) => `must be one of: ${[...(spellings?.keys() ?? [])].join(', ')}`,
  },
  text,
  words: text,
};

function readTime(input: JsonValue, daySeconds: number): number | undefined {
  if (typeof input === 'number') return isDateInRange(input) ? input : undefined;
  if (typeof input !== 'string') return undefined;
  const date = parseDateTime(input);
  return date && date.seconds + (date.isDay ? daySeconds : 0);
}

function readInteger(input: JsonValue): number | undefined {
  if (typeof input === 'string' && !/^-?\d{1,15}$/.test(input)) return undefined;
  const number = typeof input === 'string' ? Number(input) : input;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}
