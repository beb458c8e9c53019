import { namesEtag } from '@ticketing/rest/routes/etag.ts';
import { create as contentDisposition } from 'content-disposition';
import type { AttachmentState } from './attachment.ts';

/** A file that is downloaded. `id` identifies its content. */
export type DownloadedFile = Pick<AttachmentState, 'id' | 'name' | 'size' | 'contentType' | 'key'>;

/** The headers of a request for a file that decide which part of it is sent. */
export interface DownloadHeaders {
  range?: string | undefined;
  ifRange?: string | undefined;
  ifNoneMatch?: string | undefined;
}

/** The response to a download; its body is the bytes from `start` up to, but not including, `end`. */
export interface Download {
  status: 200 | 206 | 304;
  headers: Record<string, string>;
  range: { start: number; end: number };
}

/**
 * Decides between 200 (the whole file), 206 (the one range that the client asks for) and 304 (the client has the file).
 * A request for several ranges gets the whole file. Returns undefined if the file has no byte of the range.
 *
 * Source: docs/reference/api.md, Attachments; RFC 9110, sections 13 and 14.
 */
export function chooseDownload(
  attachment: Pick<DownloadedFile, 'id' | 'name' | 'size'>,
  given: DownloadHeaders,
): Download | undefined {
  const { id, size } = attachment;
  const etag = `"${id}"`;
  const headers = { ...safeHeaders(attachment.name), 'accept-ranges': 'bytes', etag };
  if (namesEtag(given.ifNoneMatch, etag)) return { status: 304, headers, range: { start: 0, end: 0 } };
  const isCurrent = given.ifRange === undefined || given.ifRange.trim() === etag;
  const range = isCurrent ? parseRange(given.range, size) : undefined;
  if (!range) {
    return { status: 200, headers: { ...headers, 'content-length': String(size) }, range: { start: 0, end: size } };
  }
  const { start, end } = range;
  if (start >= size) return undefined;
  const ofRange = { 'content-length': String(end - start), 'content-range': `bytes ${start}-${end - 1}/${size}` };
  return { status: 206, headers: { ...headers, ...ofRange }, range };
}

/** Makes a file name that no client can take for a path. */
export function savedName(name: string): string {
  return name.replaceAll(/[/\\]/g, '_');
}

/** Makes a browser save the file, whatever its content, and never show or run it. */
function safeHeaders(name: string): Record<string, string> {
  return {
    'content-disposition': contentDisposition(savedName(name)),
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
  };
}

/**
 * Returns the range of a header; undefined if there is none, or one that is to be ignored: several ranges, another
 * unit, or a text that is no range. A suffix (`-500`) may be longer than the file.
 */
function parseRange(header: string | undefined, size: number): Download['range'] | undefined {
  const [, first = '', last = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (first === '') return last === '' ? undefined : { start: Math.max(0, size - Number(last)), end: size };
  if (last !== '' && Number(last) < Number(first)) return undefined;
  return { start: Number(first), end: last === '' ? size : Math.min(Number(last) + 1, size) };
}
