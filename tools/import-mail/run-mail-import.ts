import { pathFrom, processStreams, runCommand } from '../import/run-command.ts';
import { helpText } from './help.ts';
import { importFolder } from './import-folder.ts';
import { readMailOptions } from './mail-options.ts';

/** Runs the import command of mails. Returns its exit code. */
export function runMailImport(args: readonly string[], streams = processStreams): Promise<number> {
  return runCommand(streams, async (context) => {
    const options = readMailOptions(args, streams.env);
    if (options !== 'help')
      return importFolder({ ...options, folder: pathFrom(context.folder, options.folder) }, context);
    streams.print(helpText);
    return 0;
  });
}
