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
