import type { Violation } from '@ticketing/errors/domain-error.ts';

/** An object or array that contains the current position of the scan. */
interface Frame {
  /** The keys seen so far; undefined for an array. */
  keys: Set<string> | undefined;
  /** The current key or index. */
  segment: string | number;
}

/**
 * Finds problems in a well-formed JSON text that are invisible after `JSON.parse`: duplicate keys, keys that reach a
 * prototype, and nesting beyond `maxDepth`.
 *
 * Shape: at most `maxViolations`, one for each problem; the scan ends at the first nesting that is too deep.
 */
export function scanJson(text: string, maxDepth: number, maxViolations = 100): Violation[] {
  const violations: Violation[] = [];
  const frames: Frame[] = [];
  let position = 0;
  let expectsKey = false;
  while (position < text.length && violations.length < maxViolations) {
    const frame = frames[frames.length - 1];
    switch (text.charCodeAt(position)) {
      case 0x22: {
        const end = endOfString(text, position);
        if (expectsKey && frame?.keys) {
          const literal = text.slice(position, end);
          frame.segment = literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1);
          checkKey(frame.keys, frame.segment, frames, violations);
          expectsKey = false;
        }
        position = end;
        continue;
      }
      case 0x7b: // {
        frames.push({ keys: new Set(), segment: '' });
        expectsKey = true;
        break;
      case 0x5b: // [
        frames.push({ keys: undefined, segment: 0 });
        expectsKey = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        frames.pop();
        expectsKey = false;
        break;
      case 0x2c: // ,
        expectsKey = frame?.keys !== undefined;
        if (frame && typeof frame.segment === 'number') frame.segment++;
        break;
    }
    if (frames.length > maxDepth) {
      frames.pop();
      violations.push(violation(frames, 'too_deep', `is nested deeper than ${maxDepth} levels`));
      return violations;
    }
    position++;
  }
  return violations;
}

/** At the start of a string and after an escaped quote, this many characters are read one by one: most are short. */
const nearCharacters = 64;

function endOfString(text: string, start: number): number {
  let end = start + 1;
  for (let near = end + nearCharacters; ; ) {
    const code = text.charCodeAt(end);
    if (code === 0x22) return end + 1;
    if (code === 0x5c && text.charCodeAt(end + 1) === 0x22) near = end + 2 + nearCharacters;
    end += code === 0x5c ? 2 : 1;
    if (end < near) continue;
    const quote = text.indexOf('"', end);
    let runStart = quote;
    while (runStart > end && text.charCodeAt(runStart - 1) === 0x5c) runStart--;
    if ((quote - runStart) % 2 === 0) return quote + 1;
    end = quote + 1;
    near = end + nearCharacters;
  }
}

function checkKey(keys: Set<string>, key: string, frames: readonly Frame[], violations: Violation[]): void {
  if (keys.has(key)) violations.push(violation(frames, 'duplicate_key', 'is given more than once'));
  const parent = frames[frames.length - 2];
  if (isPrototypeName(key, parent?.segment)) {
    violations.push(violation(frames, 'prototype_key', 'is not an accepted name'));
  }
  keys.add(key);
}

function violation(frames: readonly Frame[], code: string, detail: string): Violation {
  return { pointer: `#${frames.map((frame) => `/${escapePointer(String(frame.segment))}`).join('')}`, code, detail };
}

/** A longer name is cut in pointers: a document of problems with names of megabytes takes long to write. */
const maxNameLength = 200;

/** Escapes a name for use in a JSON Pointer (RFC 6901). Of a name above 200 characters only the start is left. */
export function escapePointer(name: string): string {
  return name.length > maxNameLength ? `${pointerSegment(name.slice(0, maxNameLength))}…` : pointerSegment(name);
}

/** Returns the segment of a JSON Pointer for a name of any length. */
export function pointerSegment(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Whether the name of a property reaches a prototype, by itself or together with that of the object that has it. */
export function isPrototypeName(name: string, above: unknown): boolean {
  return name === '__proto__' || (name === 'prototype' && above === 'constructor');
}
