import { readFileSync } from 'node:fs';

/** A block of code in a document. */
export interface Snippet {
  language: string;
  /** The text after the language, for example a file name; empty if there is none. */
  name: string;
  code: string;
  /** The line of the code's beginning, counted from 1. */
  line: number;
}

/** The blocks of code in a Markdown document, in their order. */
export function snippetsIn(path: string): Snippet[] {
  const text = readFileSync(path, 'utf8');
  return [...text.matchAll(/^```(\w+) ?(.*)\n([\s\S]*?)^```$/gm)].map(
    ({ 1: language = '', 2: name = '', 3: code = '', index }) => {
      return { language, name, code, line: text.slice(0, index).split('\n').length + 1 };
    },
  );
}

/** The code of the block with a name. Errors: an Error if there is none, or more than one. */
export function snippetNamed(path: string, name: string): string {
  const [found, ...others] = snippetsIn(path).filter((snippet) => snippet.name === name);
  if (!found || others.length > 0) throw new Error(`${path} has not one block with the name ${name}.`);
  return found.code;
}
