/**
 * The form of the header `Idempotency-Key`: 1 to 255 characters of ASCII, bare and visible, or quoted as a string of
 * RFC 8941. For the schema of the header, and for its check.
 */
export const idempotencyKeyPattern = String.raw`^(?:[!#-~][!-~]{0,254}|"(?:[ !#-\[\]-~]|\\["\\]){1,255}")$`;

const pattern = new RegExp(idempotencyKeyPattern);

/** Reads the header. Returns undefined if it has another form. */
export function parseIdempotencyKey(header: string): string | undefined {
  if (!pattern.test(header)) return undefined;
  return header.startsWith('"') ? header.slice(1, -1).replace(/\\(.)/g, '$1') : header;
}
