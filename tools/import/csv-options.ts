import { readNumber, readUrl, UsageError } from '../cli/command.ts';
import { pathFrom } from './command-context.ts';
import type { SessionOptions } from './import-session.ts';

/** The options of all imports of CSV files. */
export const csvOptions = {
  token: { type: 'string' },
  data: { type: 'string', default: './data' },
  map: { type: 'string', multiple: true },
  delimiter: { type: 'string', default: ',' },
  limit: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
} as const;

/** The values of the options that all imports have. */
interface CommonValues {
  url: string;
  token?: string | undefined;
  data: string;
  'dry-run': boolean;
}

/** Reads the options that all imports have. Errors: UsageError. */
export function readCommon({ url, token, data, 'dry-run': isDryRun }: CommonValues, env: NodeJS.ProcessEnv) {
  return { url: readUrl(url), token: token ?? (env.IMPORT_TOKEN || undefined), dataFolder: data, isDryRun };
}

/** Reads the one operand of an import, the path of a file or folder, which may be relative to `folder`. Errors: UsageError. */
export function readPath(kind: string, words: readonly string[], folder: string): string {
  const [path] = words;
  if (path === undefined || words.length > 1) throw new UsageError(`Name one ${kind} (--help explains the usage).`);
  return pathFrom(folder, path);
}

/** Reads the options that all imports of CSV files have. Errors: UsageError. */
export function readCsvOptions(
  values: CommonValues & { delimiter: string; limit?: string | undefined },
  words: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv,
): Omit<SessionOptions, 'concurrency'> & { isDryRun: boolean } {
  return {
    ...readCommon(values, env),
    file: readPath('CSV file', words, folder),
    delimiter: readDelimiter(values.delimiter),
    limit: readLimit(values.limit),
  };
}

/** Reads the value of `--delimiter`. Errors: UsageError. */
export function readDelimiter(text: string): string {
  if ([...text].length !== 1) throw new UsageError('--delimiter takes one character.');
  return text;
}

/** Reads the value of `--limit`: Infinity without one. Errors: UsageError. */
export function readLimit(text: string | undefined): number {
  return text === undefined ? Number.POSITIVE_INFINITY : readNumber('limit', text, { to: 1e9 });
}

/** Reads the values FIELD=... of an option. Errors: UsageError. */
export function readPairs(name: string, texts: readonly string[] = []): Map<string, string> {
  const entries = texts.map((pair): [string, string] => {
    const at = pair.indexOf('=');
    if (at < 1) throw new UsageError(`--${name} takes FIELD=..., not "${pair}".`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  return new Map(entries);
}
