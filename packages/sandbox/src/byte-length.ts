/** Counts the bytes of all texts in a value, in UTF-8, and of its byte arrays. Anything else in it counts as 8 bytes. */
export function measureBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 8;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let bytes = 8;
  for (const [key, item] of Object.entries(value)) bytes += key.length + measureBytes(item);
  return bytes;
}
