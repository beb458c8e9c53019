import { type ParseArgsConfig, parseArgs } from 'node:util';

/** An error that the user of a command can correct. Its message is one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The environment that a command reads, and the streams to which it prints lines. */
export interface Streams {
  env: NodeJS.ProcessEnv;
  print: (line: string) => void;
  printError: (line: string) => void;
}

/** The environment and the streams of this process. */
export const processStreams: Streams = {
  env: process.env,
  print,
  printError: (line) => void process.stderr.write(`${line}\n`),
};

/** Prints a line on standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Runs a command with its arguments. Returns the exit code. */
export type Command = (args: readonly string[], streams?: Streams) => Promise<number>;

/** The options of a command, without `help`, which each has. */
type Options = NonNullable<ParseArgsConfig['options']>;

/** The values of options, from the command line or by default. */
type Values<Some extends Options> = ReturnType<typeof parseArgs<{ options: Some; allowPositionals: true }>>['values'];

interface Declaration<Some extends Options> {
  /** Printed for `--help`. */
  usage: string;
  options: Some;
  /** Whether it takes words that are no options: never, always (without any, its usage is printed), or if it wants to. */
  words?: 'none' | 'some' | 'any';
  /** Whether it runs with NODE_ENV=production too. */
  runsInProduction?: boolean;
}

/**
 * Declares a command. `work` gets the values of the options and the words that are none, and returns the exit code, or
 * nothing for 0. If it throws, the message of the error is printed, and the exit code is 1.
 */
export function declareCommand<const Some extends Options>(
  { usage, options, words = 'none', runsInProduction = false }: Declaration<Some>,
  work: (values: Values<Some>, words: readonly string[], streams: Streams) => unknown,
): Command {
  return async (args, streams = processStreams) => {
    try {
      if (args.includes('--help') || args.includes('-h')) return printUsage(usage, streams);
      if (!runsInProduction && process.env.NODE_ENV === 'production') {
        throw new UsageError('This is for development only and does not run with NODE_ENV=production.');
      }
      const { values, positionals } = parse(args, options);
      const [first] = positionals;
      if (words === 'some' && first === undefined) return printUsage(usage, streams);
      if (words === 'none' && first !== undefined) throw new UsageError(`"${first}" is no option (--help lists them).`);
      const code = await work(values, positionals, streams);
      return typeof code === 'number' ? code : 0;
    } catch (error) {
      streams.printError(error instanceof Error ? error.message : String(error));
      return 1;
    }
  };
}

function printUsage(usage: string, { print }: Streams): number {
  print(usage.trimEnd());
  return 0;
}

function parse<const Some extends Options>(args: readonly string[], options: Some) {
  try {
    return parseArgs<{ args: string[]; options: Some; allowPositionals: true }>({
      args: [...args],
      options,
      allowPositionals: true,
    });
  } catch (error) {
    // Node adds sentences with advice.
    const [problem] = error instanceof Error ? error.message.split(/\.\s/) : [];
    throw new UsageError(`${problem} (--help lists the options).`, { cause: error });
  }
}

/** Reads the value of an option that takes a whole number from `from` (1) to `to`. Errors: UsageError. */
export function readNumber(name: string, text: string, { from = 1, to }: { from?: number; to: number }): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= from && value <= to) return value;
  throw new UsageError(`--${name} takes a whole number from ${from} to ${to}, not "${text}".`);
}

/** Reads the value of an option that takes one of some words. Errors: UsageError. */
export function readWord<Word extends string>(name: string, text: string, words: readonly Word[]): Word {
  const word = words.find((one) => one === text);
  if (word !== undefined) return word;
  throw new UsageError(`--${name} takes ${words.join(', ')}, not "${text}".`);
}

/** Reads the value of `--url`. Errors: UsageError. */
export function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw new UsageError(`--url takes an address such as http://127.0.0.1:8080, not "${text}".`);
}
