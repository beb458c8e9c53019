import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Violation } from '@ticketing/errors/domain-error.ts';
import { escapePointer, isPrototypeName } from './scan-json.ts';

const maxViolations = 100;

/** The findings of one pass over an open JSON value (`Struct`, `Value`). */
export interface OpenJson {
  /** Whether every encoding can carry it: its numbers are finite, and its texts have no half of a surrogate pair. */
  isPortable: boolean;
  /** How deep objects and arrays are nested. */
  depth: number;
  /** A lower bound of its bytes as JSON. */
  minBytes: number;
}

/** Cached: decoding and every rule ask for the same objects, and a pass over one with many keys takes milliseconds. */
const inspected = new WeakMap<object, OpenJson>();

/** Inspects an open JSON value, an object once only. It must not be changed afterwards. */
export function inspectOpenJson(value: unknown): OpenJson {
  const isObject = typeof value === 'object' && value !== null;
  const known = isObject ? inspected.get(value) : undefined;
  if (known) return known;
  const found: OpenJson = { isPortable: true, depth: 0, minBytes: 0 };
  inspect(value, 0, found);
  if (isObject) inspected.set(value, found);
  return found;
}

function inspect(value: unknown, level: number, found: OpenJson): void {
  found.minBytes += 1;
  switch (typeof value) {
    case 'number':
      if (!Number.isFinite(value)) found.isPortable = false;
      break;
    case 'string':
      inspectText(value, found);
      break;
    case 'boolean':
      break;
    case 'object': {
      if (value === null) break;
      const depth = level + 1;
      if (depth > found.depth) found.depth = depth;
      if (Array.isArray(value)) {
        for (const item of value) inspect(item, depth, found);
      } else {
        for (const [key, item] of Object.entries(value)) {
          inspectText(key, found);
          inspect(item, depth, found);
        }
      }
      break;
    }
    default:
      found.isPortable = false;
  }
}

function inspectText(text: string, found: OpenJson): void {
  found.minBytes += text.length;
  if (!text.isWellFormed()) found.isPortable = false;
}

/** Whether an open JSON value is portable and nested at most `levels` deep. */
export function isPortableJson(value: unknown, levels = Number.POSITIVE_INFINITY): boolean {
  const { isPortable, depth } = inspectOpenJson(value);
  return isPortable && depth <= levels;
}

const madeFromPortable = new WeakSet<Value>();

/** Returns the `Value` of a portable JSON value. */
export function portableValue(json: JsonValue): Value {
  const value = fromJson(ValueSchema, json);
  madeFromPortable.add(value);
  return value;
}

/** Whether JSON can express a `Value`. An RPC client can send one that is empty or NaN. */
export function isPortableValue(value: Value): boolean {
  if (madeFromPortable.has(value)) return true;
  try {
    return isPortableJson(toJson(ValueSchema, value));
  } catch {
    return false;
  }
}

/**
 * Whether no name in an open JSON value reaches a prototype, such as `__proto__`. A text of JSON is checked by `scanJson`;
 * this is for values that did not come as one.
 */
export function hasHarmlessNames(value: unknown, above = ''): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every((item) => hasHarmlessNames(item));
  return Object.entries(value).every(([name, item]) => !isPrototypeName(name, above) && hasHarmlessNames(item, name));
}

/** Returns the parts that make a JSON value not portable, each with its code: out_of_range, invalid_text or too_deep. */
export function portabilityViolations(value: unknown, pointer: string, levels = Number.POSITIVE_INFINITY): Violation[] {
  if (typeof value === 'number') {
    return Number.isFinite(value) ? [] : [{ pointer, code: 'out_of_range', detail: 'is too large' }];
  }
  if (typeof value === 'string') return halfPairs(value, pointer);
  if (typeof value !== 'object' || value === null) return [];
  if (levels === 0) return [{ pointer, code: 'too_deep', detail: 'is nested too deeply' }];
  const violations: Violation[] = [];
  for (const [key, item] of Object.entries(value)) {
    const at = `${pointer}/${escapePointer(key)}`;
    violations.push(...halfPairs(key, at), ...portabilityViolations(item, at, levels - 1));
    if (violations.length >= maxViolations) break;
  }
  return violations;
}

function halfPairs(text: string, pointer: string): Violation[] {
  return text.isWellFormed() ? [] : [{ pointer, code: 'invalid_text', detail: 'has half of a surrogate pair' }];
}
