import { parseArgs } from 'node:util';
import { oneOf, readUrl, refusingUnknown, wholeNumber } from '../import/options.ts';
import { StopError } from '../import/stop-error.ts';

/** The options of `npm run import:knowledge`. */
export interface KnowledgeOptions {
  folder: string;
  url: URL;
  token: string | undefined;
  dataFolder: string;
  concurrency: number;
  parent: number | null;
  prefix: string;
  type: string;
  isDryRun: boolean;
}

const flags = {
  url: { type: 'string', default: 'http://127.0.0.1:8080' },
  token: { type: 'string' },
  data: { type: 'string', default: './data' },
  concurrency: { type: 'string', default: '8' },
  parent: { type: 'string' },
  prefix: { type: 'string', default: '' },
  type: { type: 'string', default: 'document' },
  'dry-run': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const types = ['faq', 'work-instruction', 'document', 'other', 'news', 'website'];

/**
 * Reads the command line.
 *
 * Shape: `help` if the help text is asked for.
 * Errors: StopError.
 */
export function readKnowledgeOptions(args: readonly string[], env: NodeJS.ProcessEnv): KnowledgeOptions | 'help' {
  const { values, positionals } = refusingUnknown(() =>
    parseArgs({ args: [...args], options: flags, allowPositionals: true, strict: true }),
  );
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
    parent: values.parent === undefined ? null : wholeNumber('parent', values.parent, 2 ** 31 - 1),
    prefix: values.prefix,
    type: oneOf('type', values.type, types),
    isDryRun: values['dry-run'],
  };
}
