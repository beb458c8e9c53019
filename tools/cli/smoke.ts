import { checkDocuments } from '../docs/documents.ts';
import { declareCommand } from './command.ts';
import { report } from './docs-check.ts';

const usage = `Tries the start of the README as a new user does: npm start with an empty data folder, on free ports, then each command
with the response that the README shows, then Ctrl+C:

  npm run smoke
`;

export const command = declareCommand({ usage, options: {} }, async () =>
  report(await checkDocuments(['README.md'], false)),
);
