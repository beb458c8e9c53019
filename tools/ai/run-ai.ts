import { pathFrom, processStreams, runCommand } from '../import/run-command.ts';
import { readAiOptions } from './ai-options.ts';
import { evaluate } from './evaluate.ts';
import { helpText } from './help.ts';
import { describeTraining } from './train.ts';

/** Runs the commands of the builtin analysis. Returns the exit code. */
export function runAi(args: readonly string[], streams = processStreams): Promise<number> {
  return runCommand(streams, async ({ folder, print }) => {
    const options = readAiOptions(args);
    if (options === 'help') print(helpText);
    else {
      const file = pathFrom(folder, options.file);
      if (options.command === 'train') await describeTraining({ ...options, file }, print);
      else {
        const spamFolder = options.spamFolder === undefined ? undefined : pathFrom(folder, options.spamFolder);
        await evaluate({ ...options, file, spamFolder }, print);
      }
    }
    return 0;
  });
}
