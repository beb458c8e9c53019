const maxLength = 32_767;
const lineEnd = /\r\n?/g;
const unwritable = /(?![\t\n\u0080-\u009f])[\p{Cc}\p{Cs}\ufffe\uffff]/gu;
const escapeLike = /_(?=x[0-9a-f]{4}_)/gi;

/**
 * Changes a text as little as possible so that a cell of a workbook can hold it and readers decode it to the same text.
 *
 * Shape: the first 32,767 UTF-16 units, without half a surrogate pair; line ends are LF, as XML readers convert them;
 * characters that XML cannot contain become U+FFFD; what looks like an escape (`_x0041_`) is escaped (`_x005F_x0041_`).
 * Source: ECMA-376 part 1, 18.3.1.4 and 22.9.2.19 (ST_Xstring); XML 1.0, 2.2 and 2.11.
 */
export function sheetText(text: string): string {
  return cut(text.replace(lineEnd, '\n')).replace(unwritable, '\ufffd').replace(escapeLike, '_x005F_');
}

function cut(text: string): string {
  if (text.length <= maxLength) return text;
  const splitsPair = (text.codePointAt(maxLength - 1) ?? 0) > 0xffff;
  return text.slice(0, splitsPair ? maxLength - 1 : maxLength);
}
