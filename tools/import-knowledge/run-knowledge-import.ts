import { pathFrom, processStreams, runCommand } from '../import/run-command.ts';
import { helpText } from './help.ts';
import { importKnowledge } from './import-knowledge.ts';
import { readKnowledgeOptions } from './knowledge-options.ts';

/** Runs the import command of knowledge. Returns its exit code. */
export function runKnowledgeImport(args: readonly string[], streams = processStreams): Promise<number> {
  return runCommand(streams, async (context) => {
    const options = readKnowledgeOptions(args, streams.env);
    if (options !== 'help')
      return importKnowledge({ ...options, folder: pathFrom(context.folder, options.folder) }, context);
    streams.print(helpText);
    return 0;
  });
}
