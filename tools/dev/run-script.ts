import { type ParseArgsConfig, parseArgs } from 'node:util';

/** An error that the user of a script can correct. Its message is one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The options of a script, without `help`, which each has. */
type Options = NonNullable<ParseArgsConfig['options']>;

/** The values of options, as they were given or by default. */
type Values<Some extends Options> = ReturnType<typeof parseArgs<{ options: Some; allowPositionals: true }>>['values'];

/** A script: its usage, and the arguments that it takes. */
interface Script<Some extends Options> {
  /** Printed for `--help`. */
  usage: string;
  options: Some;
  /** Whether it takes words that are no options. Without any, its usage is printed. */
  takesCommand?: boolean;
  /** Whether it also runs with NODE_ENV=production. */
  runsInProduction?: boolean;
}

/**
 * Runs a script: prints its usage, or does its work with the values of its options and the words that are none. If it fails,
 * prints the message of the error and exits with code 1.
 */
export async function runScript<const Some extends Options>(
  { usage, options, takesCommand = false, runsInProduction = false }: Script<Some>,
  work: (values: Values<Some>, words: readonly string[]) => unknown,
): Promise<void> {
  const run = runsInProduction ? failWithMessage : runDevelopmentScript;
  await run(async () => {
    const args = process.argv.slice(2);
    if (args.includes('--help')) return print(usage.trimEnd());
    const { values, positionals } = parse(args, options);
    const [first] = positionals;
    if (takesCommand && first === undefined) return print(usage.trimEnd());
    if (!takesCommand && first !== undefined) throw new UsageError(`"${first}" is no option (--help lists them).`);
    await work(values, positionals);
  });
}

function parse<const Some extends Options>(args: string[], options: Some) {
  try {
    return parseArgs<{ args: string[]; options: Some; allowPositionals: true }>({
      args,
      options,
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)} (--help lists the options)`);
  }
}

/** Prints a line on standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Runs a script that is for development only. If it fails, prints the message of the error and exits with code 1. */
export async function runDevelopmentScript(script: () => Promise<void>): Promise<void> {
  await failWithMessage(async () => {
    if (process.env.NODE_ENV === 'production') {
      throw new UsageError('This is for development only and does not run with NODE_ENV=production.');
    }
    await script();
  });
}

async function failWithMessage(script: () => Promise<void>): Promise<void> {
  try {
    await script();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
