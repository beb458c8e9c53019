import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { withGeneratedParts } from '../dev/generated-parts.ts';

/** The documents with an index of other documents, and where each of its parts takes them from. */
export const documentIndexes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'docs/README.md': {
    operations: 'docs/operations/*.md',
    services: 'docs/services/*.md',
    proofs: 'docs/{asvs,audit,conformance,security}.md',
  },
  'docs/decisions/README.md': { decisions: 'docs/decisions/[0-9]*.md' },
};

/** Writes the lists of documents that an index has into its text: a line for each, with its title. */
export function withDocumentLists(root: string, document: string, text: string): string {
  const folder = join(document, '..');
  const lists = Object.entries(documentIndexes[document] ?? {}).map(([name, pattern]) => {
    const paths = globSync(pattern, { cwd: root }).sort();
    const lines = paths.map((path) => `- [${readTitle(join(root, path))}](${relative(folder, path)})`);
    return [name, lines.join('\n')];
  });
  return withGeneratedParts(text, Object.fromEntries(lists));
}

/** The first heading of a document. Errors: it has none. */
function readTitle(path: string): string {
  const [, title] = /^# (.+)$/m.exec(readFileSync(path, 'utf8')) ?? [];
  if (!title) throw new Error(`${path} has no title.`);
  return title.trim();
}
