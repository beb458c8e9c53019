import { parseArgs } from 'node:util';
import { readUrl, wholeNumber } from '../import/options.ts';
import { StopError } from '../import/stop-error.ts';

/** The options of `npm run import:mail`. */
export interface MailOptions {
  folder: string;
  url: URL;
  token: string | undefined;
  dataFolder: string;
  concurrency: number;
  subchannelId: number | undefined;
  keepsDate: boolean;
  /** Infinity when not given. */
  limit: number;
  isDryRun: boolean;
}

const flags = {
  url: { type: 'string', default: 'http://127.0.0.1:8081' },
  token: { type: 'string' },
  data: { type: 'string', default: './data' },
  concurrency: { type: 'string', default: '16' },
  subchannel: { type: 'string' },
  now: { type: 'boolean', default: false },
  limit: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/**
 * Reads the command line.
 *
 * Shape: `help` if the help text is asked for.
 * Errors: StopError.
 */
export function readMailOptions(args: readonly string[], env: NodeJS.ProcessEnv): MailOptions | 'help' {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  const [folder] = positionals;
  if (folder === undefined || positionals.length > 1)
    throw new StopError('Name one folder (--help explains the usage).');
  return {
    folder,
    url: readUrl(values.url),
    token: values.token ?? (env.IMPORT_TOKEN || undefined),
    dataFolder: values.data,
    concurrency: wholeNumber('concurrency', values.concurrency, 256),
    subchannelId:
      values.subchannel === undefined ? undefined : wholeNumber('subchannel', values.subchannel, 2 ** 31 - 1),
    keepsDate: !values.now,
    limit: values.limit === undefined ? Number.POSITIVE_INFINITY : wholeNumber('limit', values.limit, 1e9),
    isDryRun: values['dry-run'],
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags, allowPositionals: true, strict: true });
  } catch (error) {
    throw new StopError(`${error instanceof Error ? error.message : String(error)} (--help lists the flags)`);
  }
}
