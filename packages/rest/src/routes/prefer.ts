// Never fails at a quote that is not closed, so that hostile text costs linear time.
const quotedText = /"(?:[^"\\]|\\.?)*"?/g;

/**
 * Whether a `Prefer` header contains a preference without a value, such as `respond-async`. Its parameters are ignored.
 *
 * Source: RFC 7240.
 */
export function prefers(header: string | undefined, preference: string): boolean {
  return (header ?? '')
    .replace(quotedText, '')
    .split(',')
    .some((part) => part.split(';')[0]?.trim().toLowerCase() === preference);
}
