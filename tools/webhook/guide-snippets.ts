import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The path of docs/webhooks.md. */
export const guidePath = join(import.meta.dirname, '../../docs/webhooks.md');

/** A block of code in docs/webhooks.md. */
interface Snippet {
  language: string;
  /** What follows the language; empty if nothing does. */
  name: string;
  code: string;
}

/** The blocks of code in docs/webhooks.md, in their order. */
export function guideSnippets(): Snippet[] {
  const blocks = readFileSync(guidePath, 'utf8').matchAll(/^```(\w+) ?(\S*)\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, language = '', name = '', code = '']) => ({ language, name, code }));
}

/** The code of the block with a file name. Errors: an Error if there is none, or more than one. */
export function guideSnippet(name: string): string {
  const [found, ...others] = guideSnippets().filter((snippet) => snippet.name === name);
  if (!found || others.length > 0) throw new Error(`docs/webhooks.md has not one block with the name ${name}.`);
  return found.code;
}
