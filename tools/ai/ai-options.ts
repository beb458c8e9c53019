import { parseArgs } from 'node:util';
import { refusingUnknown, wholeNumber } from '../import/options.ts';
import { StopError } from '../import/stop-error.ts';

/** The options of `npm run ai -- train`. */
export interface TrainOptions {
  command: 'train';
  file: string;
  delimiter: string;
  topicColumn: string;
}

/** The options of `npm run ai -- evaluate`. */
export interface EvaluateOptions extends Omit<TrainOptions, 'command'> {
  command: 'evaluate';
  /** A folder with the spam corpus. */
  spamFolder: string | undefined;
  /** How many ways of splitting the rows are measured. */
  splits: number;
  tags: number;
}

const flags = {
  spam: { type: 'string' },
  splits: { type: 'string', default: '1' },
  topic: { type: 'string', default: 'queue' },
  tags: { type: 'string', default: '30' },
  delimiter: { type: 'string', default: ',' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/**
 * Reads the command line.
 *
 * Shape: `help` if the help text is asked for.
 * Errors: StopError.
 */
export function readAiOptions(args: readonly string[]): EvaluateOptions | TrainOptions | 'help' {
  const { values, positionals } = refusingUnknown(() =>
    parseArgs({ args: [...args], options: flags, allowPositionals: true, strict: true }),
  );
  if (values.help) return 'help';
  const [command, file] = positionals;
  if ((command !== 'evaluate' && command !== 'train') || file === undefined || positionals.length > 2) {
    throw new StopError('Write: evaluate FILE.csv, or train FILE.csv (--help explains the usage).');
  }
  if ([...values.delimiter].length !== 1) throw new StopError('--delimiter takes one character.');
  const read = { file, delimiter: values.delimiter, topicColumn: values.topic };
  if (command === 'train') return { command, ...read };
  return {
    command,
    ...read,
    spamFolder: values.spam,
    splits: wholeNumber('splits', values.splits, 20),
    tags: wholeNumber('tags', values.tags, 200),
  };
}
