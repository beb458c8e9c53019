import { join } from 'node:path';
import { startedSystem } from '../dev/started-system.ts';
import { type DocumentResult, runDocument } from './run-document.ts';

const root = join(import.meta.dirname, '..', '..');

/** The documents whose commands are run. */
export const runDocuments: readonly string[] = ['README.md', 'docs/quick-start.md', 'docs/api-guide.md'];

/** Runs the commands of documents, each against a system that `npm start` starts for it. */
export async function checkDocuments(documents: readonly string[], updates: boolean): Promise<DocumentResult> {
  const results = await Promise.all(documents.map((document) => checkDocument(document, updates)));
  return {
    problems: results.flatMap(({ problems }) => problems),
    passed: results.reduce((total, { passed }) => total + passed, 0),
  };
}

async function checkDocument(document: string, updates: boolean): Promise<DocumentResult> {
  const system = await startedSystem();
  const { problems, passed } = await runDocument(join(root, document), { system, root, updates }).catch((error) => {
    return { problems: [`${document}: ${error instanceof Error ? error.message : String(error)}`], passed: 0 };
  });
  const hasStopped = await system.stop();
  return { problems: hasStopped ? problems : [...problems, `${document}: the system did not stop in order`], passed };
}
