/** A text as one line without control characters. Spaces stay, but for those that follow a line break. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029][ \p{Cc}\u2028\u2029]*/gu, ' ');
}
