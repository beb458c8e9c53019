import { checkDocuments } from '../docs/documents.ts';
import { declareCommand } from './command.ts';

const usage = `Runs the commands of README, quick start and API guide against a system that it starts, and compares the responses:

  npm run docs:check

  --update  writes the responses of this run into the documents
`;

const options = { update: { type: 'boolean', default: false } } as const;

export const command = declareCommand({ usage, options }, async ({ update }) => {
  const { problems, run } = await checkDocuments(update);
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.stdout.write(`${run} blocks of commands were run, ${problems.length} problems\n`);
  return problems.length === 0 ? 0 : 1;
});
