import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** A link of a document that leads nowhere. */
export interface BrokenLink {
  document: string;
  line: number;
  target: string;
}

/**
 * Finds the links of a Markdown document to files, folders and headings that do not exist. Links to other hosts are not
 * followed. Code is not searched for links.
 */
export function brokenLinks(root: string, document: string): BrokenLink[] {
  return linksIn(readFileSync(join(root, document), 'utf8')).flatMap(({ line, target }) =>
    leadsSomewhere(root, document, target) ? [] : [{ document, line, target }],
  );
}

/** The files of a repository that the links of a document lead to, relative to its root. */
export function linkedFiles(root: string, document: string): string[] {
  const links = linksIn(readFileSync(join(root, document), 'utf8'));
  return links.flatMap(({ target }) => {
    const [path = ''] = target.split('#');
    return isOutside(target) || path === '' ? [] : [normalize(join(dirname(document), decodeURI(path)))];
  });
}

function leadsSomewhere(root: string, document: string, target: string): boolean {
  if (isOutside(target)) return true;
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? join(root, document) : join(root, dirname(document), decodeURI(path));
  if (!existsSync(file)) return false;
  if (anchor === undefined) return true;
  return statSync(file).isFile() && file.endsWith('.md') && listAnchors(file).has(decodeURIComponent(anchor));
}

function isOutside(target: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(target);
}

function linksIn(text: string): { line: number; target: string }[] {
  return withoutCode(text)
    .split('\n')
    .flatMap((content, index) =>
      [...content.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)].map(([, target = '']) => ({
        line: index + 1,
        target,
      })),
    );
}

/** Removes fenced blocks and code in lines, and keeps the lines. */
function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, '')).replace(/`[^`\n]*`/g, '``');
}

const anchors = new Map<string, Set<string>>();

/** The anchors that a forge gives to the headings of a document: a repeated one gets a number. */
function listAnchors(file: string): Set<string> {
  const known = anchors.get(file);
  if (known) return known;
  const found = new Set<string>();
  const text = readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
  for (const [, heading = ''] of text.matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = readSlug(heading);
    let unique = slug;
    for (let count = 1; found.has(unique); count += 1) unique = `${slug}-${count}`;
    found.add(unique);
  }
  anchors.set(file, found);
  return found;
}

function readSlug(heading: string): string {
  const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').trim();
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}
