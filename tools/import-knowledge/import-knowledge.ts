import type { CommandContext } from '../import/command-context.ts';
import { runSession } from '../import/import-session.ts';
import { knowledgeProgress, knowledgeSummary, newKnowledgeCount } from './knowledge-count.ts';
import { type KnowledgeFile, knowledgeFiles, listFolders, readFileContent } from './knowledge-files.ts';
import { KnowledgeImport, type KnowledgeOptions } from './knowledge-import.ts';

/**
 * Imports the files of a folder as knowledge.
 *
 * Shape: the exit code: 0 all files are imported, 2 some were refused, 130 interrupted.
 * Errors: UsageError.
 */
export async function importKnowledge(options: KnowledgeOptions, context: CommandContext): Promise<number> {
  const files = await knowledgeFiles(options.folder);
  if (options.isDryRun) return dryRun(files, context.print);
  const count = newKnowledgeCount(files.length, Date.now());
  // The list of rejects is put beside the folder.
  const session = { ...options, file: options.folder.replace(/[/\\]+$/, ''), delimiter: ',' };
  return runSession(session, context, {
    header: ['file'],
    count,
    rejectsName: 'Refused files',
    right: 'manageKnowledge',
    run: ({ client, rejects, stop }) => new KnowledgeImport({ client, rejects, count, options }).run(files, stop),
    progressLine: () => knowledgeProgress(count, Date.now()),
    summary: () => knowledgeSummary(count, Date.now()),
  });
}

async function dryRun(files: readonly KnowledgeFile[], print: (text: string) => void): Promise<number> {
  let refused = 0;
  for (const file of files) {
    const content = await readFileContent(file);
    if ('reason' in content) refused += 1;
    print(`${file.relativePath}: ${'reason' in content ? content.reason : content.title}`);
  }
  print(`${files.length} files in ${listFolders(files).length + 1} folders, ${refused} of them would be refused`);
  return refused > 0 ? 2 : 0;
}
