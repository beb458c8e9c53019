import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, extname, join, relative, sep } from 'node:path';
import { UsageError } from '../cli/command.ts';
import { type FileKind, readDocument } from './read-document.ts';

/** A file to import. */
export interface KnowledgeFile {
  path: string;
  /** Its path within the folder, with `/` on every system. */
  relativePath: string;
  kind: FileKind;
}

/** The content of a file, or the reason why it is refused. */
export type FileContent = { name: string; title: string; text: string } | { reason: string };

const kinds: Record<string, FileKind> = {
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.html': 'html',
  '.htm': 'html',
  '.txt': 'text',
};
const maxBytes = 1024 * 1024;

/** The files of a folder and its folders, by path. Symbolic links are not followed. Errors: UsageError. */
export async function knowledgeFiles(folder: string): Promise<KnowledgeFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    throw new UsageError(`Cannot read ${folder}: ${error instanceof Error ? error.message : String(error)}.`);
  });
  const files = entries.flatMap((entry): KnowledgeFile[] => {
    const path = join(entry.parentPath, entry.name);
    const parts = relative(folder, path).split(sep);
    const kind = kinds[extname(entry.name).toLowerCase()];
    if (!entry.isFile() || !kind || parts.some((part) => part.startsWith('.'))) return [];
    return [{ path, relativePath: parts.join('/'), kind }];
  });
  if (files.length === 0) throw new UsageError(`There is no Markdown, HTML or text file in ${folder}.`);
  return files.sort((left, right) => (left.relativePath < right.relativePath ? -1 : 1));
}

/** The folders above files, each after those above it. */
export function listFolders(files: readonly KnowledgeFile[]): string[] {
  const folders = new Set<string>();
  for (const { relativePath } of files) {
    const parts = relativePath.split('/').slice(0, -1);
    for (let depth = 1; depth <= parts.length; depth++) folders.add(parts.slice(0, depth).join('/'));
  }
  return [...folders].sort((left, right) => left.split('/').length - right.split('/').length);
}

/** Reads a file. Errors: those of the file system. */
export async function readFileContent({ path, kind }: KnowledgeFile): Promise<FileContent> {
  // It may have become a link since the folder was read, or a pipe, from which no byte may ever arrive.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return { reason: 'This is no file.' };
    const { size } = stats;
    if (size > maxBytes) return { reason: `The file has ${size} bytes; ${maxBytes} are allowed.` };
    const bytes = await file.readFile();
    const text = decode(bytes);
    if (text === undefined) return { reason: 'The file is not UTF-8; convert it first.' };
    if (text.trim() === '') return { reason: 'The file is empty.' };
    const name = basename(path);
    return { name, ...readDocument(text, kind, name) };
  } finally {
    await file.close();
  }
}

/** Undefined if the bytes are not UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n');
  } catch {
    return undefined;
  }
}
