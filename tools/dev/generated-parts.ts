/**
 * Writes the generated parts of a document into its text: each part between two comments that name it.
 *
 * Errors: an Error for a part that has no place in the text.
 */
export function withGeneratedParts(document: string, parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts).reduce((text, [name, part]) => {
    const place = new RegExp(`(<!-- generated: ${name} -->\n)[\\s\\S]*?(<!-- end: ${name} -->)`);
    if (!place.test(text)) throw new Error(`The document has no place for the part "${name}".`);
    return text.replace(place, (_all, begin: string, end: string) => `${begin}\n${part}\n\n${end}`);
  }, document);
}

/**
 * Writes the generated lines of a YAML file into its text: each part between two comments that name it.
 *
 * Errors: an Error for a part that has no place in the text.
 */
export function withGeneratedLines(file: string, parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts).reduce((text, [name, part]) => {
    const place = new RegExp(`^( *# generated: ${name}\n)[\\s\\S]*?(^ *# end: ${name}$)`, 'm');
    if (!place.test(text)) throw new Error(`The file has no place for the part "${name}".`);
    return text.replace(place, (_all, begin: string, end: string) => `${begin}${part}\n${end}`);
  }, file);
}

/** A table in Markdown. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const [first, ...others] = [head, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [first, `|${'---|'.repeat(head.length)}`, ...others].join('\n');
}
