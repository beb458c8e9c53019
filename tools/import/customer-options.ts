import { parseArgs } from 'node:util';
import type { SessionOptions } from './import-session.ts';
import { commonFlags, pairs, readCommon, refusingUnknown } from './options.ts';

/** The options of `npm run import:customers`. */
export interface CustomerOptions extends SessionOptions {
  /** Columns by field, as given. */
  columns: ReadonlyMap<string, string>;
  isDryRun: boolean;
}

const flags = { ...commonFlags, url: { type: 'string', default: 'http://127.0.0.1:8081' } } as const;

/**
 * Reads the command line.
 *
 * Shape: `help` if the help text is asked for.
 * Errors: StopError.
 */
export function readCustomerOptions(args: readonly string[], env: NodeJS.ProcessEnv): CustomerOptions | 'help' {
  const { values, positionals } = refusingUnknown(() =>
    parseArgs({ args: [...args], options: flags, allowPositionals: true, strict: true }),
  );
  if (values.help) return 'help';
  // Rows of one customer must not overtake each other.
  return { ...readCommon(values, positionals, env), concurrency: 1, columns: pairs('map', values.map ?? []) };
}
