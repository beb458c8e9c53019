import { checkDocuments, runDocuments } from '../docs/documents.ts';
import type { DocumentResult } from '../docs/run-document.ts';
import { declareCommand, print } from './command.ts';

const usage = `Runs the commands of README, quick start and API guide against systems that npm start starts on free ports, with empty
data folders, and compares the responses with those that the documents show:

  npm run docs:check

  --update  writes the responses of this run into the documents

npm run smoke does so for the README alone.
`;

const options = { update: { type: 'boolean', default: false } } as const;

export const command = declareCommand({ usage, options }, async ({ update }) =>
  report(await checkDocuments(runDocuments, update)),
);

/** Prints what is wrong, and a line "N blocks of commands passed, N failed". Returns the exit code. */
export function report({ problems, passed }: DocumentResult): number {
  for (const problem of problems) print(problem);
  print(`${passed} blocks of commands passed, ${problems.length} failed`);
  return problems.length === 0 && passed > 0 ? 0 : 1;
}
