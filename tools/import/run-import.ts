import { isAbsolute, join } from 'node:path';
import { helpText } from './help.ts';
import { importFile } from './import-file.ts';
import { readOptions } from './options.ts';
import { StopError } from './stop-error.ts';

/** Runs the import command. Returns its exit code. */
export async function runImport(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  print: (text: string) => void = console.log,
  printError: (text: string) => void = console.error,
): Promise<number> {
  const folder = callersFolder(env);
  const signals = watchSignals();
  try {
    const options = readOptions(args, env);
    if (options === 'help') {
      print(helpText);
      return 0;
    }
    const file = isAbsolute(options.file) ? options.file : join(folder, options.file);
    const isTerminal = print === console.log && process.stdout.isTTY;
    return await importFile({ ...options, file }, { print, isTerminal, folder, signal: signals.signal });
  } catch (error) {
    if (!(error instanceof StopError)) throw error;
    printError(error.message);
    return 1;
  } finally {
    signals.close();
  }
}

/** The folder that relative paths start from: npm runs scripts in the project folder, wherever it was called. */
function callersFolder(env: NodeJS.ProcessEnv): string {
  return env.npm_lifecycle_event === 'import' && env.INIT_CWD ? env.INIT_CWD : process.cwd();
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
