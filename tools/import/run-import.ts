import { helpText } from './help.ts';
import { importFile } from './import-file.ts';
import { readOptions } from './options.ts';
import { pathFrom, processStreams, runCommand } from './run-command.ts';

/** Runs the import command. Returns its exit code. */
export function runImport(
  args: readonly string[],
  env = processStreams.env,
  print = processStreams.print,
  printError = processStreams.printError,
): Promise<number> {
  return runCommand({ env, print, printError }, async (context) => {
    const options = readOptions(args, env);
    if (options !== 'help') return importFile({ ...options, file: pathFrom(context.folder, options.file) }, context);
    print(helpText);
    return 0;
  });
}
