import { join } from 'node:path';
import { startedSystem } from '../dev/started-system.ts';
import { type DocumentResult, runDocument } from './run-document.ts';

const root = join(import.meta.dirname, '..', '..');

/** The documents whose commands are run. */
export const runDocuments: readonly string[] = ['README.md', 'docs/quick-start.md', 'docs/api-guide.md'];

/** Runs the commands of all documents, each against a system that is started for it. */
export async function checkDocuments(updates: boolean): Promise<DocumentResult> {
  const results = await Promise.all(
    runDocuments.map(async (document) => {
      const system = await startedSystem();
      try {
        return await runDocument(join(root, document), { system, root, updates });
      } finally {
        await system.stop();
      }
    }),
  );
  return {
    problems: results.flatMap(({ problems }) => problems),
    run: results.reduce((total, { run }) => total + run, 0),
  };
}
