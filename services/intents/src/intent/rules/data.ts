import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import type { Violation } from '@ticketing/errors/domain-error.ts';
import { cutChars } from '@ticketing/runtime/cut-text.ts';

/** The most work of a check: the parts of the schema times the parts of the data. This takes about 50 ms. */
const maxWork = 500_000;
/** The number of characters of a text that count as a part, because a keyword may look at each of them. */
const charsPerPart = 32;
/** Up to this work all violations are listed, beyond it only the first: each takes more time than a part that fits. */
const maxListedWork = 10_000;
/** The number of comparisons of two items of a list that count as a part of a schema. */
const comparisonsPerPart = 4;
/** The number of parts that a check with `multipleOf` counts as, because its numbers can have hundreds of digits. */
const partsOfDivision = 25;
const maxViolations = 100;
/** The most characters of a violation, which can repeat a part of the schema. */
const maxDetailChars = 500;

/**
 * Returns the violations of the data of an intent against the JSON Schema of its AI agent. The schema is interpreted:
 * no code is made from it. `format` only describes.
 *
 * Errors, as violations: invalid_data. Source: docs/reference/api.md, Execution of an intent.
 */
export function dataViolations(schema: JsonObject, data: JsonObject, pointer: string): Violation[] {
  const work = estimateWork(schema, data);
  if (work > maxWork) return [invalid(pointer, 'is too large for the schema of this AI agent')];
  const errors = findErrors(withoutFormat(schema) as Schema, data, work > maxListedWork);
  if (!errors) return [invalid(pointer, 'cannot be checked')];
  const outer = new Set(errors.flatMap(({ instanceLocation }) => placesAround(instanceLocation)));
  return errors
    .filter(({ instanceLocation }) => !outer.has(instanceLocation))
    .slice(0, maxViolations)
    .map(({ instanceLocation, error }) => invalid(pointer + decodeURI(instanceLocation.slice(1)), error));
}

function estimateWork(schema: JsonObject, data: JsonObject): number {
  const { parts, longestList } = measure(data);
  const text = JSON.stringify(schema);
  const comparisons = text.includes('"uniqueItems"') ? longestList / comparisonsPerPart : 1;
  const divisions = text.split('"multipleOf"').length - 1;
  return parts * Math.max(measure(schema).parts + divisions * partsOfDivision, comparisons);
}

/**
 * Returns the errors of a check, or only the first; undefined if the library fails, for example at a name with half a
 * character.
 */
function findErrors(schema: Schema, data: JsonObject, onlyFirst: boolean): OutputUnit[] | undefined {
  try {
    // As a 2020-12 vocabulary, in which `format` is an annotation.
    return new Validator(schema, '2020-12', onlyFirst).validate(data).errors;
  } catch {
    return undefined;
  }
}

/** Returns the places that contain a place: `#` and `#/a` for `#/a/b`. */
function placesAround(location: string): string[] {
  const names = location.split('/');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
}

function invalid(pointer: string, detail: string): Violation {
  return { pointer, code: 'invalid_data', detail: cutChars(detail, maxDetailChars) };
}

/** Counts the parts of a value, including itself, and the items of its longest list. */
function measure(value: JsonValue): { parts: number; longestList: number } {
  if (typeof value === 'string') return { parts: 1 + value.length / charsPerPart, longestList: 0 };
  if (typeof value !== 'object' || value === null) return { parts: 1, longestList: 0 };
  let parts = 1;
  let longestList = Array.isArray(value) ? value.length : 0;
  for (const [name, part] of Object.entries(value)) {
    const inner = measure(part);
    parts += inner.parts + (Array.isArray(value) ? 0 : name.length / charsPerPart);
    longestList = Math.max(longestList, inner.longestList);
  }
  return { parts, longestList };
}

/** Returns a schema without `format`. A property of this name stays: its value is a schema. */
function withoutFormat(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutFormat);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name, part]) => name !== 'format' || typeof part !== 'string');
  return Object.fromEntries(entries.map(([name, part]) => [name, withoutFormat(part)]));
}

/** Counts a JSON value and all values in it. */
export function countValues(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 1;
  let values = 1;
  for (const part of Object.values(value)) values += countValues(part);
  return values;
}

/**
 * Returns the data that an intent has from the beginning: the defaults of the properties of its JSON Schema; null
 * without any.
 *
 * Source: docs/reference/api.md, Intents and AI agents.
 */
export function defaultData(schema: JsonObject | null): JsonObject | null {
  const properties = schema?.properties;
  if (!isObject(properties)) return null;
  const defaults = Object.entries(properties).flatMap(([name, part]): [string, JsonValue][] =>
    isObject(part) && part.default !== undefined ? [[name, part.default]] : [],
  );
  return defaults.length === 0 ? null : Object.fromEntries(defaults);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
