import { DomainError } from '@ticketing/errors/domain-error.ts';
import { OutboundError } from '@ticketing/outbound/outbound-error.ts';
import type { ByteBudget } from '@ticketing/runtime/byte-budget.ts';
import { maxFileBytes } from './attachment.ts';
import type { FileContext } from './file-context.ts';
import { filesTooLarge, fileTooLarge, invalidAttachment } from './file-errors.ts';

/** How long the files of a request may take to be fetched, together. */
export const fetchMs = 20_000;

/** How long a request waits for the bytes of a file that it wants to fetch. */
const waitMs = 5_000;

/** A file to fetch. Units: `until` in milliseconds of the monotonic clock. */
export interface FileRequest {
  url: string;
  pointer: string;
  /** The most bytes that the other files of the message leave. */
  maxBytes: number;
  until: number;
  signal: AbortSignal;
}

/**
 * Fetches a file from a URL of a client. Its bytes count as held by the caller until `use` has ended.
 *
 * Errors: invalid_attachment; attachment_too_large, attachments_too_large; too_much_at_once.
 * Source: docs/reference/api.md, Attachments; docs/reference/guarantees.md, Outbound requests.
 */
export async function fetchFile<Result>(
  context: Pick<FileContext, 'fileBytes' | 'outbound' | 'runtime'>,
  caller: string,
  request: FileRequest,
  use: (bytes: Uint8Array) => Promise<Result>,
): Promise<Result> {
  const release = await takeBytes(context.fileBytes, caller, request.signal);
  try {
    return await use(await fetchBytes(context, request));
  } finally {
    release();
  }
}

async function takeBytes(budget: ByteBudget, caller: string, signal: AbortSignal): Promise<() => void> {
  const waiting = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
  try {
    return await budget.acquire(caller, maxFileBytes, waiting);
  } catch (error) {
    signal.throwIfAborted();
    const detail = 'Too many files are being fetched at once.';
    throw new DomainError('unavailable', 'too_much_at_once', detail, { retryAfterSeconds: 1, cause: error });
  }
}

async function fetchBytes(
  { outbound, runtime }: Pick<FileContext, 'outbound' | 'runtime'>,
  { url, pointer, maxBytes, until, signal }: FileRequest,
): Promise<Uint8Array> {
  try {
    const { status, body } = await outbound.request({
      url,
      method: 'GET',
      headers: { accept: '*/*' },
      deadlineMs: Math.max(0, until - runtime.monotonicMs()),
      maxResponseBytes: Math.min(maxBytes, maxFileBytes),
      longResponse: 'refuse',
      maxRedirects: 3,
      signal,
    });
    if (status === 200) return body;
    throw invalidAttachment(pointer, `cannot be fetched: the response has the status ${status}`);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    if (error.kind !== 'response_too_large') throw invalidAttachment(pointer, `cannot be fetched: ${error.message}`);
    throw maxBytes < maxFileBytes ? filesTooLarge(pointer) : fileTooLarge(pointer);
  }
}
