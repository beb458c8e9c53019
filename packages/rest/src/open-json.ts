import type { Violation } from '@ticketing/errors/domain-error.ts';
import { escapePointer, isPrototypeName } from './scan-json.ts';

const maxViolations = 100;

/**
 * Whether every encoding can carry an open JSON value (`Struct`, `Value`): its numbers are finite, its texts have no
 * half of a surrogate pair, and it is nested at most `levels` deep.
 */
export function isPortableJson(value: unknown, levels = Number.POSITIVE_INFINITY): boolean {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value);
    case 'string':
      return value.isWellFormed();
    case 'boolean':
      return true;
    case 'object': {
      if (value === null) return true;
      if (levels === 0) return false;
      if (Array.isArray(value)) return value.every((item) => isPortableJson(item, levels - 1));
      return Object.entries(value).every(([key, item]) => key.isWellFormed() && isPortableJson(item, levels - 1));
    }
    default:
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

/** The parts that make a JSON value not portable, each with its code: out_of_range, invalid_text or too_deep. */
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
