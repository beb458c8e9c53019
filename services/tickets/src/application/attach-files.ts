import type { AttachmentInput } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import {
  type AttachmentState,
  attachmentIdOf,
  attachmentName,
  fileEndingOf,
  maxFileBytes,
  maxMessageFileBytes,
  maxMessageFiles,
} from '../domain/attachment.ts';
import { decodeBase64, decodedSize, InvalidBase64Error } from '../domain/base64.ts';
import { sniffFile } from '../domain/sniff-file.ts';
import type { Context } from './context.ts';
import { fetchFile, fetchMs } from './fetch-file.ts';
import { filesTooLarge, fileTooLarge, invalidAttachment, tooManyFiles } from './file-errors.ts';

/** The parts of the context that files need. */
export type FileContext = Pick<Context, 'files' | 'fileBytes' | 'outbound' | 'runtime' | 'now'>;

/** How long after its last write a file is checked: longer than any writer takes that could still list it. */
const checkAfterMs = 60 * 60 * 1000;

/** A file whose bytes are in memory. */
export interface FileBytes {
  name: string;
  bytes: Uint8Array;
  inline: boolean;
}

/**
 * Stores the files of a request. They are unseen until a ticket or a message lists them; before it is written, call
 * `claimFiles` with its ticket. Files that nothing lists are removed by the sweeper an hour later, or by `removeFiles`.
 *
 * Shape: the attachments in the order of the inputs. `pointer` is that of the list in the request, `#/attachments`,
 * and `places` are the indexes of the inputs in it.
 * Errors: invalid_attachment; attachment_too_large, attachments_too_large, too_many_attachments; too_much_at_once, if other
 * requests are fetching too many files. No file is left then.
 * Source: docs/reference/api.md, Attachments.
 */
export async function attachFiles(
  context: FileContext,
  call: Pick<Call, 'caller' | 'signal'>,
  inputs: readonly AttachmentInput[],
  pointer: string,
  places: readonly number[] = [...inputs.keys()],
): Promise<AttachmentState[]> {
  requireValidInputs(inputs, pointer, places);
  const until = context.runtime.now() + fetchMs;
  // What is fetched has the room that the others leave.
  let left = maxMessageFileBytes - sizesOf(inputs).reduce((sum, size) => sum + size, 0);
  return storeAll(context, inputs, async (input, index) => {
    const at = `${pointer}/${places[index]}`;
    const { name = '', url } = input;
    const file = { name, inline: false };
    if (url === undefined) return storeBase64(context, file, input.base64 ?? '', at);
    const request = { url, pointer: `${at}/url`, maxBytes: left, until, signal: call.signal };
    return fetchFile(context, callerKey(call.caller), request, async (bytes) => {
      left -= bytes.length;
      return storeFile(context, file, { head: bytes, size: bytes.length, pieces: [bytes] });
    });
  });
}

/**
 * Stores files whose bytes are in memory, for example those of a mail, like `attachFiles`. The caller counts the bytes.
 *
 * Errors: attachment_too_large, attachments_too_large, too_many_attachments. No file is left then.
 */
export async function attachBytes(
  context: FileContext,
  files: readonly FileBytes[],
  pointer = '#/attachments',
): Promise<AttachmentState[]> {
  requireSizes(
    files.map(({ bytes }) => bytes.length),
    pointer,
  );
  return storeAll(context, files, ({ bytes, ...file }) =>
    storeFile(context, file, { head: bytes, size: bytes.length, pieces: [bytes] }),
  );
}

/**
 * Assigns files to the ticket that is about to list them, itself or in one of its messages. Call it before each write that
 * lists new files: when the ticket is deleted, its files are found by it.
 *
 * Errors: concurrent_change, if one of them was removed meanwhile, for example with the ticket.
 */
export async function claimFiles(
  { files }: Pick<Context, 'files'>,
  ticketId: number,
  attachments: readonly AttachmentState[],
): Promise<void> {
  if (attachments.length === 0 || (await files.assign(keysOf(attachments), ticketId))) return;
  throw new DomainError('aborted', 'concurrent_change', 'The files were removed while the ticket was written.');
}

/**
 * Marks files for the sweeper before a write takes them out of a list. If the process dies before `removeFiles`, the sweeper
 * removes those that nothing lists any more.
 */
export async function releaseFiles(
  { files, runtime }: Pick<Context, 'files' | 'runtime'>,
  attachments: readonly AttachmentState[],
): Promise<void> {
  if (attachments.length > 0) await files.checkLater(keysOf(attachments), new Date(runtime.now() + checkAfterMs));
}

/** Removes the content and the record of files that nothing lists. */
export async function removeFiles(
  { files }: Pick<Context, 'files'>,
  attachments: readonly AttachmentState[],
): Promise<void> {
  if (attachments.length > 0) await files.remove(keysOf(attachments));
}

function keysOf(attachments: readonly AttachmentState[]): string[] {
  return attachments.map(({ key }) => key);
}

/** Stores files one after the other, so that a request holds one of them at a time. */
async function storeAll<Input>(
  context: FileContext,
  inputs: readonly Input[],
  store: (input: Input, index: number) => Promise<AttachmentState>,
): Promise<AttachmentState[]> {
  const stored: AttachmentState[] = [];
  try {
    for (const [index, input] of inputs.entries()) stored.push(await store(input, index));
  } catch (error) {
    // If this fails too, the sweeper removes them.
    await removeFiles(context, stored).catch(() => undefined);
    throw error;
  }
  return stored;
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
  { name: given, inline }: Omit<FileBytes, 'bytes'>,
  content: { head: Uint8Array; size: number; pieces: Iterable<Uint8Array> },
): Promise<AttachmentState> {
  const { head, size, pieces } = content;
  const { contentType, ending, width, height } = await sniffFile(head, head.length === size);
  const name = attachmentName(given, ending);
  const { runtime, files } = context;
  const key = runtime.randomBytes(16).toString('hex');
  await files.write(key, pieces, new Date(runtime.now() + checkAfterMs)).catch(async (error: unknown) => {
    await files.remove([key]).catch(() => undefined);
    throw error;
  });
  return {
    id: attachmentIdOf(runtime.randomBytes(8)),
    name,
    size,
    contentType,
    fileEnding: fileEndingOf(name) ?? ending,
    inline,
    width,
    height,
    createdAt: context.now(),
    key,
  };
}

function requireValidInputs(inputs: readonly AttachmentInput[], pointer: string, places: readonly number[]): void {
  if (inputs.length > maxMessageFiles) throw tooManyFiles(pointer);
  for (const [index, { name, url, base64 }] of inputs.entries()) {
    const at = `${pointer}/${places[index]}`;
    if ((url === undefined) === (base64 === undefined)) throw invalidAttachment(at, 'must have either url or base64');
    if (url !== undefined && name === undefined) throw invalidAttachment(`${at}/name`, 'is required with url');
  }
  requireSizes(sizesOf(inputs), pointer);
}

/** The sizes of the files, as far as they are in the request. */
function sizesOf(inputs: readonly AttachmentInput[]): number[] {
  return inputs.map(({ base64 = '' }) => decodedSize(base64));
}

/** Refuses files of a message that are too many or too large. Units: sizes in bytes. */
export function requireSizes(
  sizes: readonly number[],
  pointer: string,
  places: readonly number[] = [...sizes.keys()],
): void {
  if (sizes.length > maxMessageFiles) throw tooManyFiles(pointer);
  const tooLarge = sizes.findIndex((size) => size > maxFileBytes);
  if (tooLarge >= 0) throw fileTooLarge(`${pointer}/${places[tooLarge]}`);
  if (sizes.reduce((sum, size) => sum + size, 0) > maxMessageFileBytes) throw filesTooLarge(pointer);
}
