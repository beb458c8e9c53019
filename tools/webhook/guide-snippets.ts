import { join } from 'node:path';
import { type Snippet, snippetNamed, snippetsIn } from '../docs/snippets.ts';

/** The path of docs/webhooks.md. */
export const guidePath = join(import.meta.dirname, '../../docs/webhooks.md');

/** The blocks of code in docs/webhooks.md, in their order. */
export function guideSnippets(): Snippet[] {
  return snippetsIn(guidePath);
}

/** The code of the block with a file name. Errors: an Error if there is none, or more than one. */
export function guideSnippet(name: string): string {
  return snippetNamed(guidePath, name);
}
