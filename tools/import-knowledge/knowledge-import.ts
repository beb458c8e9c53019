import { UsageError } from '../cli/command.ts';
import type { ApiClient } from '../import/api-client.ts';
import { listReasons } from '../import/problem.ts';
import type { RejectFile } from '../import/rejects.ts';
import { InterruptedError } from '../import/row-errors.ts';
import type { KnowledgeCount } from './knowledge-count.ts';
import { type KnowledgeFile, listFolders, readFileContent } from './knowledge-files.ts';
import { type Outcome, type SourceFields, SourceWriter } from './source-writer.ts';

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

interface KnowledgeImportParts {
  client: Pick<ApiClient, 'send'>;
  rejects: Pick<RejectFile, 'add'>;
  count: KnowledgeCount;
  options: Pick<KnowledgeOptions, 'parent' | 'prefix' | 'type' | 'concurrency'>;
}

/** The import ends after this many responses in a row with a status of 500 or above. */
const maxFailuresInARow = 20;

/** Writes a source for each file, below one for each folder. */
export class KnowledgeImport {
  readonly #parts: KnowledgeImportParts;
  readonly #writer: SourceWriter;
  /** The ids of the sources of folders, by path; the folder itself is the empty path. */
  readonly #parents = new Map<string, number | null>();
  /** Why the sources of folders were refused, by path. */
  readonly #refusedFolders = new Map<string, readonly string[]>();
  #failuresInARow = 0;

  constructor(parts: KnowledgeImportParts) {
    this.#parts = parts;
    this.#writer = new SourceWriter(parts.client);
    this.#parents.set('', parts.options.parent);
  }

  /** Errors: the first UsageError of a sender, else an InterruptedError. */
  async run(files: readonly KnowledgeFile[], stop: AbortController): Promise<void> {
    for (const folder of listFolders(files)) {
      if (stop.signal.aborted) throw new InterruptedError('interrupted');
      await this.#writeFolder(folder);
    }
    const next = files.entries();
    const sendAll = async (): Promise<void> => {
      for (const [index, file] of next) {
        if (stop.signal.aborted) throw new InterruptedError('interrupted');
        await this.#writeFile(file, index);
      }
    };
    const senders = Array.from({ length: this.#parts.options.concurrency }, () => sendAll());
    for (const sender of senders) sender.catch(() => stop.abort());
    const ends = await Promise.allSettled(senders);
    const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
    const failure = failures.find((reason) => !(reason instanceof InterruptedError)) ?? failures[0];
    if (failure !== undefined) throw failure;
  }

  async #writeFolder(folder: string): Promise<void> {
    const above = this.#refusedFolders.get(toFolder(folder));
    if (above) return void this.#refusedFolders.set(folder, above);
    const name = lastPart(folder);
    const fields = { ...this.#placeOf(folder), source: `${this.#parts.options.prefix}${folder}/`, name, title: name };
    const { outcome, id, response } = await this.#writer.write({ ...fields, text: undefined }, 'other');
    this.#countFailure(response?.status ?? 200);
    if (outcome === 'created') this.#parts.count.folders += 1;
    if (id !== undefined) this.#parents.set(folder, id);
    else this.#refusedFolders.set(folder, response ? listReasons(response) : [outcome]);
  }

  async #writeFile(file: KnowledgeFile, index: number): Promise<void> {
    const { prefix, type } = this.#parts.options;
    const above = this.#refusedFolders.get(toFolder(file.relativePath));
    if (above) {
      const reasons = above.map((reason) => `A folder around it was refused: ${reason}`);
      return this.#refuse(file, index, reasons);
    }
    const content = await readFileContent(file).catch((error: unknown) => ({ reason: toMessage(error) }));
    if ('reason' in content) return this.#refuse(file, index, [content.reason]);
    const source = `${prefix}${file.relativePath}`;
    const fields: SourceFields = { ...content, ...this.#placeOf(file.relativePath), source };
    const { outcome, response } = await this.#writer.write(fields, type);
    this.#countFailure(response?.status ?? 200);
    if (response) return this.#refuse(file, index, listReasons(response));
    this.#count(outcome);
  }

  #placeOf(path: string): { parent: number | null } {
    return { parent: this.#parents.get(toFolder(path)) ?? null };
  }

  #count(outcome: Outcome): void {
    if (outcome !== 'refused') this.#parts.count[outcome] += 1;
  }

  #countFailure(status: number): void {
    this.#failuresInARow = status >= 500 ? this.#failuresInARow + 1 : 0;
    if (this.#failuresInARow < maxFailuresInARow) return;
    throw new UsageError(`The server failed on ${maxFailuresInARow} files in a row, last with ${status}; see its log.`);
  }

  #refuse({ path }: KnowledgeFile, index: number, reasons: readonly string[]): void {
    this.#parts.rejects.add({ row: index + 1, line: index + 1, cells: [path], endByte: 0 }, reasons);
    this.#parts.count.rejected += 1;
  }
}

function toFolder(path: string): string {
  return path.split('/').slice(0, -1).join('/');
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
