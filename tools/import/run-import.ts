import { isAbsolute, join } from 'node:path';
import { customerHelpText } from './customer-help.ts';
import { readCustomerOptions } from './customer-options.ts';
import { helpText } from './help.ts';
import { importCustomers } from './import-customers.ts';
import { importFile } from './import-file.ts';
import type { ImportContext, SessionOptions } from './import-session.ts';
import { readOptions } from './options.ts';
import { StopError } from './stop-error.ts';

/** Where a command prints, and what it reads besides its arguments. */
interface CommandSurroundings {
  env: NodeJS.ProcessEnv;
  print: (text: string) => void;
  printError: (text: string) => void;
}

/** A command that imports a file. */
interface ImportCommand<Options extends SessionOptions> {
  /** The npm script that starts it. */
  script: string;
  helpText: string;
  readOptions(args: readonly string[], env: NodeJS.ProcessEnv): Options | 'help';
  importFile(options: Options, context: ImportContext): Promise<number>;
}

const ofTickets = { script: 'import', helpText, readOptions, importFile };
const ofCustomers = {
  script: 'import:customers',
  helpText: customerHelpText,
  readOptions: readCustomerOptions,
  importFile: importCustomers,
};

/** Runs the import command of tickets. Returns its exit code. */
export function runImport(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  print: (text: string) => void = console.log,
  printError: (text: string) => void = console.error,
): Promise<number> {
  return runCommand(ofTickets, args, { env, print, printError });
}

/** Runs the import command of customers. Returns its exit code. */
export function runCustomerImport(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  print: (text: string) => void = console.log,
  printError: (text: string) => void = console.error,
): Promise<number> {
  return runCommand(ofCustomers, args, { env, print, printError });
}

async function runCommand<Options extends SessionOptions>(
  command: ImportCommand<Options>,
  args: readonly string[],
  { env, print, printError }: CommandSurroundings,
): Promise<number> {
  const folder = callersFolder(command.script, env);
  const signals = watchSignals();
  try {
    const options = command.readOptions(args, env);
    if (options === 'help') {
      print(command.helpText);
      return 0;
    }
    const file = isAbsolute(options.file) ? options.file : join(folder, options.file);
    const isTerminal = print === console.log && process.stdout.isTTY;
    return await command.importFile({ ...options, file }, { print, isTerminal, folder, signal: signals.signal });
  } catch (error) {
    if (!(error instanceof StopError)) throw error;
    printError(error.message);
    return 1;
  } finally {
    signals.close();
  }
}

/** The folder that relative paths start from: npm runs scripts in the project folder, wherever it was called. */
function callersFolder(script: string, env: NodeJS.ProcessEnv): string {
  return env.npm_lifecycle_event === script && env.INIT_CWD ? env.INIT_CWD : process.cwd();
}

function watchSignals(): { signal: AbortSignal; close: () => void } {
  const controller = new AbortController();
  let firstMs: number | undefined;
  const stop = (): void => {
    firstMs ??= Date.now();
    controller.abort();
    // The terminal and npm both pass on the same Ctrl-C. Only a later one asks to end at once.
    if (Date.now() - firstMs > 1000) process.exit(130);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return { signal: controller.signal, close: () => process.off('SIGINT', stop).off('SIGTERM', stop) };
}
