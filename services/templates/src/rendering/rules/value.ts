/**
 * Returns the text of a value in a template, by which helpers compare: for a list the texts of its elements with commas
 * between them, for an unset value or an object the empty text.
 */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.map(toText).join(',');
  return '';
}

/**
 * Whether a value is true in a condition, as in `{{#if}}`: unset, false, 0, an empty text and an empty list are not.
 */
export function isTrue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}
