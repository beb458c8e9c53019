/**
 * The text of a value in a template, by which helpers compare: nothing for what is unset, the texts of its elements with
 * commas between them for a list, nothing for an object.
 */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.map(textOf).join(',');
  return '';
}

/** Whether a value counts as true in a condition, as in `{{#if}}`: not what is unset, false, 0, an empty text or list. */
export function isTrue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}
