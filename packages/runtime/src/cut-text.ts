/** Returns the beginning of a text, at most `max` UTF-16 units; no character is cut in two. */
export function cutChars(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, '');
}

/** Returns the beginning of a text, at most `max` bytes of UTF-8; no character is cut in two. */
export function cutBytes(text: string, max: number): string {
  if (text.length * 3 <= max || Buffer.byteLength(text) <= max) return text;
  return Buffer.from(text)
    .subarray(0, max)
    .toString()
    .replace(/\ufffd{1,3}$/, '');
}
