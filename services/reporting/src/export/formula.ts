const formulaStart = /^[\s\p{Z}\p{Cc}\p{Cf};,|]*[=+\-@|\t\r\uff1d\uff0b\uff0d\uff20\u2212]/u;

/**
 * Whether a spreadsheet program could read the text as a formula.
 *
 * Shape: white space, control and invisible characters at the start do not hide a formula, and neither do characters at
 * which a program may split the cells of a file (`;`, `,`, `|`, tab).
 * Source: OWASP, CSV Injection.
 */
export function looksLikeFormula(text: string): boolean {
  return formulaStart.test(text);
}

// The character comes first, so that texts without one cost little, and no run of white space is searched twice.
const formulaInside =
  /[=+\-@\uff1d\uff0b\uff0d\uff20\u2212](?<=[;,|\t\r\n\v\f\u0085\u2028\u2029][\s\p{Z}\p{Cc}\p{Cf}"]*?.)/gu;

/**
 * Returns the text with a `'` before everything that a spreadsheet program could read as a formula: before the text, if
 * it looks like one, and before each formula that follows a character at which a program may split cells or rows.
 *
 * Shape: between that character and the formula, white space, invisible characters and quotes hide nothing: a program
 * removes a pair of quotes at the start of a cell.
 */
export function withoutFormulas(text: string): string {
  const marked = text.replace(formulaInside, "'$&");
  return looksLikeFormula(text) ? `'${marked}` : marked;
}
