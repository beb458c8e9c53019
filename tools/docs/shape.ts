/** Patterns of texts that differ between two runs of the same commands, with the words that replace them. */
const changing: readonly [pattern: RegExp, stand: string][] = [
  [/\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\.\d+)?Z?\b/g, 'TIME'],
  [/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]+ GMT\b/g, 'TIME'],
  [/\b(evt|dlv|exp)_[0-9a-f]+\b/g, '$1_ID'],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UUID'],
  [/\b[0-9a-f]{32}\b/g, 'HEX'],
  [/\bwhsec_[A-Za-z0-9+/]+=*/g, 'SECRET'],
  [/\/attachment\/[a-z0-9]{8}\b/g, '/attachment/ID'],
  [/\bhttp:\/\/127\.0\.0\.1:\d+/g, 'URL'],
];

/** Members whose values are never the same: opaque ones, measured ones, and versions, which an analysis raises. */
const changingMembers: ReadonlySet<string> = new Set([
  'version',
  'nextCursor',
  'next',
  'durationMs',
  'secondsSinceLastCustomerMessage',
  'traceId',
]);

/** The beginning of the sentence about a member that is shown, but missing. */
export const missing = 'not there:';

/** A text in which everything that changes from run to run is replaced. */
export function steady(text: string): string {
  return changing.reduce((result, [pattern, stand]) => result.replace(pattern, stand), text.trim());
}

/**
 * Compares a JSON value that a document shows with the one that a run has returned: types, members, and values that do
 * not change from run to run. In a part, members and elements that are not shown are ignored, but `{}` and `[]` are compared.
 *
 * Shape: a sentence for each difference.
 */
export function differences(shown: unknown, actual: unknown, isPart: boolean, path = ''): string[] {
  if (Array.isArray(shown) && Array.isArray(actual)) {
    if (isCut(shown, isPart) ? shown.length > actual.length : shown.length !== actual.length) {
      return [`${path}: ${shown.length} elements are shown, there are ${actual.length}`];
    }
    return shown.flatMap((element, index) => differences(element, actual[index], isPart, `${path}/${index}`));
  }
  if (isObject(shown) && isObject(actual)) {
    const names = new Set([...Object.keys(shown), ...(isCut(shown, isPart) ? [] : Object.keys(actual))]);
    return [...names].flatMap((name) => {
      if (!(name in actual)) return [`${missing} ${path}/${name}: ${JSON.stringify(actual)}`];
      if (!(name in shown)) return [`${path}/${name}: is not shown`];
      const isChanging = changingMembers.has(name) && typeof shown[name] === typeof actual[name];
      return isChanging ? [] : differences(shown[name], actual[name], isPart, `${path}/${name}`);
    });
  }
  const areTexts = typeof shown === 'string' && typeof actual === 'string';
  const same = areTexts ? isSameText(shown, actual, path.endsWith('/id')) : shown === actual;
  return same ? [] : [`${path}: shown is ${JSON.stringify(shown)}, there is ${JSON.stringify(actual)}`];
}

function isSameText(shown: string, actual: string, isId: boolean): boolean {
  // The ids of files are random characters.
  const areIds = isId && [shown, actual].every((text) => /^[a-z0-9]{8}$/.test(text));
  return areIds || steady(shown) === steady(actual);
}

/** Whether members or elements of a value are left out. */
function isCut(shown: object, isPart: boolean): boolean {
  return isPart && Object.keys(shown).length > 0;
}

/** The members of a value that a document shows a part of. */
export function measurePart(shown: unknown, actual: unknown): unknown {
  if (typeof shown === 'object' && shown && !isCut(shown, true)) return actual;
  if (Array.isArray(shown) && Array.isArray(actual)) {
    return actual.slice(0, shown.length).map((element, index) => measurePart(shown[index], element));
  }
  if (!isObject(shown) || !isObject(actual)) return actual;
  const kept = Object.keys(shown).filter((member) => member in actual);
  return Object.fromEntries(kept.map((member) => [member, measurePart(shown[member], actual[member])]));
}

/** JSON as a document shows it: a value that fits in a line is in one line. */
export function readableJson(value: unknown, indent = ''): string {
  const inLine = renderLine(value);
  if (indent.length + inLine.length <= 100 || typeof value !== 'object' || value === null) return inLine;
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((element) => `${inner}${readableJson(element, inner)}`)
    : Object.entries(value).map(([key, member]) => `${inner}${JSON.stringify(key)}: ${readableJson(member, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

function renderLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(renderLine).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${renderLine(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
