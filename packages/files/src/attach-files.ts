import type { AttachmentInput } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import {
  type AttachmentState,
  attachmentName,
  maxFileBytes,
  maxMessageFileBytes,
  maxMessageFiles,
  readFileEnding,
} from './attachment.ts';
import { decodeBase64, decodedSize, InvalidBase64Error } from './base64.ts';
import { fetchFile, fetchMs } from './fetch-file.ts';
import type { FileContext } from './file-context.ts';
import { filesTooLarge, fileTooLarge, invalidAttachment, tooManyFiles } from './file-errors.ts';
import { countFiles } from './file-quota.ts';
import type { OwnerId } from './file-store.ts';
import { sniffFile } from './sniff-file.ts';
import { checkAfterMs, storeAll, storeContent } from './store-content.ts';

/** The pointer to the list of files in a request. */
const pointer = '#/attachments';

/** A file whose bytes are in memory. */
export interface FileBytes {
  name: string;
  bytes: Uint8Array;
  inline: boolean;
  contentId?: string | null;
}

/**
 * Stores the files of a request. They are unseen until a ticket, a message or a template lists them; before it is written,
 * call `claimFiles` with their owner. Files that nothing lists are removed by the sweeper an hour later, or by `removeFiles`.
 *
 * Shape: the attachments in the order of the inputs. `places` are the indexes of the inputs in the list of the request.
 * Errors: invalid_attachment; attachment_too_large, attachments_too_large, too_many_attachments; storage_quota;
 * too_much_at_once, if other requests are fetching too many files. No file is left then.
 * Source: docs/reference/api.md, Attachments.
 */
export async function attachFiles(
  context: FileContext,
  call: Pick<Call, 'caller' | 'signal'>,
  inputs: readonly AttachmentInput[],
  places: readonly number[] = [...inputs.keys()],
): Promise<AttachmentState[]> {
  requireValidInputs(inputs, places);
  const until = context.runtime.monotonicMs() + fetchMs;
  // Fetched files get the room that the others leave.
  const given = addUp(measureSizes(inputs));
  let left = maxMessageFileBytes - given;
  return countFiles(context, call.caller, async (take) => {
    await take(given);
    return storeAll(context, inputs, async (input, index) => {
      const at = `${pointer}/${places[index]}`;
      const { name = '', url } = input;
      const file = { name, inline: false };
      if (url === undefined) return storeBase64(context, file, input.base64 ?? '', at);
      const request = { url, pointer: `${at}/url`, maxBytes: left, until, signal: call.signal };
      return fetchFile(context, callerKey(call.caller), request, async (bytes) => {
        left -= bytes.length;
        await take(bytes.length);
        return storeFile(context, file, { head: bytes, size: bytes.length, pieces: [bytes] });
      });
    });
  });
}

/**
 * Stores files whose bytes are in memory, for example those of a mail, like `attachFiles`. The caller counts their bytes
 * in memory.
 *
 * Errors: attachment_too_large, attachments_too_large, too_many_attachments; storage_quota. No file is left then.
 */
export async function attachBytes(
  context: FileContext,
  { caller }: Pick<Call, 'caller'>,
  files: readonly FileBytes[],
): Promise<AttachmentState[]> {
  const sizes = files.map(({ bytes }) => bytes.length);
  requireSizes(sizes);
  return countFiles(context, caller, async (take) => {
    await take(addUp(sizes));
    return storeAll(context, files, ({ bytes, ...file }) =>
      storeFile(context, file, { head: bytes, size: bytes.length, pieces: [bytes] }),
    );
  });
}

/**
 * Assigns files to the owner that is about to list them, itself or in something that belongs to it. Call it before each
 * write that lists new files: when the owner is deleted, its files are found by it.
 *
 * Errors: concurrent_change, if one of them was removed meanwhile, for example with the owner.
 */
export async function claimFiles(
  { files }: Pick<FileContext, 'files'>,
  ownerId: OwnerId,
  attachments: readonly AttachmentState[],
): Promise<void> {
  if (attachments.length === 0 || (await files.assign(listKeys(attachments), ownerId))) return;
  throw new DomainError('aborted', 'concurrent_change', 'The files were removed while they were attached.');
}

/**
 * Marks files for the sweeper before a write takes them out of a list. If the process dies before `removeFiles`, the sweeper
 * removes those that nothing lists any more.
 */
export async function releaseFiles(
  { files, runtime }: Pick<FileContext, 'files' | 'runtime'>,
  attachments: readonly AttachmentState[],
): Promise<void> {
  if (attachments.length > 0) await files.checkLater(listKeys(attachments), new Date(runtime.now() + checkAfterMs));
}

/** Removes the content and the record of files that nothing lists. */
export async function removeFiles(
  { files }: Pick<FileContext, 'files'>,
  attachments: readonly Pick<AttachmentState, 'key'>[],
): Promise<void> {
  if (attachments.length > 0) await files.remove(listKeys(attachments));
}

/** Removes the files of parts of an owner: all those of a part, of which one may be left of a process that has died. */
export async function removePartFiles(
  { files }: Pick<FileContext, 'files'>,
  partIds: readonly number[],
): Promise<void> {
  for (const id of partIds) {
    for (let file = await files.findOfPart(id); file; file = await files.findOfPart(id)) await files.remove([file.key]);
  }
}

function listKeys(attachments: readonly Pick<AttachmentState, 'key'>[]): string[] {
  return attachments.map(({ key }) => key);
}

async function storeBase64(
  context: FileContext,
  file: Omit<FileBytes, 'bytes'>,
  base64: string,
  pointer: string,
): Promise<AttachmentState> {
  try {
    const [head = new Uint8Array()] = decodeBase64(base64);
    const pieces = decodeBase64(base64);
    return await storeFile(context, file, { head, size: decodedSize(base64), pieces });
  } catch (error) {
    if (!(error instanceof InvalidBase64Error)) throw error;
    throw invalidAttachment(`${pointer}/base64`, 'must be base64 with its padding, without line breaks');
  }
}

async function storeFile(
  context: FileContext,
  { name: given, inline, contentId }: Omit<FileBytes, 'bytes'>,
  content: { head: Uint8Array; size: number; pieces: Iterable<Uint8Array> },
): Promise<AttachmentState> {
  const { head, size, pieces } = content;
  const { contentType, ending, width, height } = await sniffFile(head, head.length === size);
  const name = attachmentName(given, ending);
  const file = { name, size, contentType, fileEnding: readFileEnding(name) ?? ending, inline, width, height };
  return storeContent(context, { ...file, ...(contentId ? { contentId } : {}) }, pieces);
}

function requireValidInputs(inputs: readonly AttachmentInput[], places: readonly number[]): void {
  if (inputs.length > maxMessageFiles) throw tooManyFiles(pointer);
  for (const [index, { name, url, base64 }] of inputs.entries()) {
    const at = `${pointer}/${places[index]}`;
    if ((url === undefined) === (base64 === undefined)) throw invalidAttachment(at, 'must have either url or base64');
    if (url !== undefined && name === undefined) throw invalidAttachment(`${at}/name`, 'is required with url');
  }
  requireSizes(measureSizes(inputs), places);
}

/** Returns the sizes of the files, as far as they are in the request. */
function measureSizes(inputs: readonly AttachmentInput[]): number[] {
  return inputs.map(({ base64 = '' }) => decodedSize(base64));
}

/**
 * Refuses files of a message or a template that are too many or too large. Units: sizes in bytes.
 *
 * Errors: attachment_too_large, attachments_too_large, too_many_attachments.
 */
export function requireSizes(sizes: readonly number[], places: readonly number[] = [...sizes.keys()]): void {
  if (sizes.length > maxMessageFiles) throw tooManyFiles(pointer);
  const tooLarge = sizes.findIndex((size) => size > maxFileBytes);
  if (tooLarge >= 0) throw fileTooLarge(`${pointer}/${places[tooLarge]}`);
  if (addUp(sizes) > maxMessageFileBytes) throw filesTooLarge(pointer);
}

function addUp(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}
