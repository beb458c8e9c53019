import { parseArgs } from 'node:util';
import type { SessionOptions } from './import-session.ts';
import type { MappingOptions } from './map-row.ts';
import { StopError } from './stop-error.ts';

/** The options of `npm run import`. */
export interface ImportOptions extends SessionOptions {
  mapping: MappingOptions;
  tagType: string;
  process: string;
  isDryRun: boolean;
}

/** The flags that all imports have. */
export const commonFlags = {
  token: { type: 'string' },
  data: { type: 'string', default: './data' },
  map: { type: 'string', multiple: true },
  delimiter: { type: 'string', default: ',' },
  limit: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const flags = {
  ...commonFlags,
  url: { type: 'string', default: 'http://127.0.0.1:8080' },
  concurrency: { type: 'string', default: '32' },
  set: { type: 'string', multiple: true },
  channel: { type: 'string' },
  'tag-columns': { type: 'string' },
  'tag-type': { type: 'string', default: 'skill' },
  'no-raw': { type: 'boolean', default: false },
  process: { type: 'string', default: 'batch' },
} as const;

/**
 * Reads the command line.
 *
 * Shape: `help` if the help text is asked for.
 * Errors: StopError.
 */
export function readOptions(args: readonly string[], env: NodeJS.ProcessEnv): ImportOptions | 'help' {
  const { values, positionals } = refusingUnknown(() =>
    parseArgs({ args: [...args], options: flags, allowPositionals: true, strict: true }),
  );
  if (values.help) return 'help';
  const constants = pairs('set', values.set ?? []);
  if (values.channel !== undefined) constants.set('channel', values.channel);
  return {
    ...readCommon(values, positionals, env),
    concurrency: wholeNumber('concurrency', values.concurrency, 256),
    mapping: {
      columns: pairs('map', values.map ?? []),
      constants,
      tagColumns: values['tag-columns']?.split(',').filter((column) => column !== ''),
      keepsRaw: !values['no-raw'],
    },
    tagType: values['tag-type'],
    process: oneOf('process', values.process, ['realtime', 'batch', 'false']),
  };
}

/** The values of the flags that all imports have. */
interface CommonValues {
  url: string;
  token?: string | undefined;
  data: string;
  delimiter: string;
  limit?: string | undefined;
  'dry-run': boolean;
}

/** Reads the options that all imports have. Errors: StopError. */
export function readCommon(
  values: CommonValues,
  positionals: readonly string[],
  env: NodeJS.ProcessEnv,
): Omit<SessionOptions, 'concurrency'> & { isDryRun: boolean } {
  const [file] = positionals;
  if (file === undefined || positionals.length > 1)
    throw new StopError('Name one CSV file (--help explains the usage).');
  if ([...values.delimiter].length !== 1) throw new StopError('--delimiter takes one character.');
  return {
    file,
    url: readUrl(values.url),
    token: values.token ?? (env.IMPORT_TOKEN || undefined),
    dataFolder: values.data,
    delimiter: values.delimiter,
    limit: values.limit === undefined ? Number.POSITIVE_INFINITY : wholeNumber('limit', values.limit, 1e9),
    isDryRun: values['dry-run'],
  };
}

/** Parses a command line. Errors: StopError. */
export function refusingUnknown<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (error) {
    throw new StopError(`${error instanceof Error ? error.message : String(error)} (--help lists the flags)`);
  }
}

/** Reads the values FIELD=... of a flag. Errors: StopError. */
export function pairs(flag: string, given: readonly string[]): Map<string, string> {
  const entries = given.map((pair): [string, string] => {
    const at = pair.indexOf('=');
    if (at < 1) throw new StopError(`--${flag} takes FIELD=..., not "${pair}".`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  return new Map(entries);
}

/** Reads the value of `--url`. Errors: StopError. */
export function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw new StopError(`--url takes an address such as http://127.0.0.1:8080, not "${text}".`);
}

/** Reads the value of a flag that takes a whole number from 1 on. Errors: StopError. */
export function wholeNumber(flag: string, text: string, maximum: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= maximum) return value;
  throw new StopError(`--${flag} takes a whole number from 1 to ${maximum}, not "${text}".`);
}

/** Reads the value of a flag that takes one of some words. Errors: StopError. */
export function oneOf(flag: string, text: string, allowed: readonly string[]): string {
  if (allowed.includes(text)) return text;
  throw new StopError(`--${flag} takes ${allowed.join(', ')}, not "${text}".`);
}
