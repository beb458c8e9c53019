import { existsSync, globSync, readFileSync } from 'node:fs';

/** A reference in a comment to a file or heading that does not exist. */
export interface BrokenReference {
  file: string;
  line: number;
  text: string;
}

/** Matches sources outside the repository that comments may refer to. */
const standards = /^(RFC \d+|ECMA-\d+|XML 1|CloudEvents|W3C|OWASP|Standard Webhooks|gRPC|https:\/\/)/;
/** Matches documents that are not in the repository, or are named without their folder. */
const outsideDocument = /(?<!reference\/)\b(decisions|architecture|guarantees|style|toolchain)\.md\b/;

/**
 * Finds `Source:` lines with a file or heading that does not exist, and other references to documents that are not in the
 * repository. A source is `docs/reference/api.md, Heading`; several sources are separated by `;`.
 */
export function brokenReferences(file: string, text: string, headingsOf: (document: string) => Set<string>) {
  const broken: BrokenReference[] = [];
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const add = (reason: string) => broken.push({ file, line: index + 1, text: reason });
    if (outsideDocument.test(line)) add(line.trim());
    for (const [name] of line.matchAll(/docs\/decisions\/\d{4}/g)) if (!isDecision(name)) add(name);
    for (const source of sourcesAt(lines, index)) if (!isKnown(source, headingsOf)) add(source);
  }
  return broken;
}

/** The sources in the sentence that begins with `Source:` on a line, and may go on over the next lines. */
function sourcesAt(lines: readonly string[], index: number): string[] {
  const [, first] = /\bSource: (.*)$/.exec(lines[index] ?? '') ?? [];
  if (first === undefined) return [];
  let sentence = first;
  for (let next = index + 1; !/\.\s*(\*\/)?\s*$/.test(sentence) && next < lines.length; next++) {
    sentence += ` ${(lines[next] ?? '').replace(/^\s*(\*|\/\/)\s?/, '')}`;
  }
  return sentence
    .replace(/\*\/\s*$/, '')
    .trim()
    .replace(/\.$/, '')
    .split(';')
    .map((source) => source.trim());
}

function isKnown(source: string, headingsOf: (document: string) => Set<string>): boolean {
  if (standards.test(source)) return true;
  const [, document = '', heading] = /^((?:docs|packages|services)\/[\w/-]+\.md)(?:, (.+))?$/.exec(source) ?? [];
  if (document === '' || !existsSync(document)) return false;
  return heading === undefined || headingsOf(document).has(heading);
}

function isDecision(name: string): boolean {
  return globSync(`${name}-*.md`).length === 1;
}

/** The headings of a Markdown file, without the leading `#` signs. */
export function headingsIn(document: string): Set<string> {
  const headings = readFileSync(document, 'utf8').matchAll(/^#+ (.+)$/gm);
  return new Set([...headings].map(([, heading = '']) => heading.trim()));
}
