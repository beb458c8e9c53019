import { cutChars } from '@ticketing/runtime/cut-text.ts';

/** A file, as the document lists that it belongs to: a ticket, a message, a template. Units: `createdAt` in Unix seconds. */
export interface AttachmentState {
  /** 8 characters of a-z and 0-9. */
  id: string;
  /** The name that the sender gave: a label, never a path. */
  name: string;
  /** Units: bytes. */
  size: number;
  /** The media type, detected from the content. */
  contentType: string;
  fileEnding: string | null;
  /** Whether the file is shown inside the text. */
  inline: boolean;
  /** The id by which the text shows it (`cid:`), if it came with one. */
  contentId?: string | null;
  width: number | null;
  height: number | null;
  createdAt: number;
  /** The random key under which the content is stored. Clients never see it. */
  key: string;
}

/** The most bytes of a file. */
export const maxFileBytes = 20 * 1024 * 1024;
/** The most bytes of the files of a message, or of a template, together. */
export const maxMessageFileBytes = 25 * 1024 * 1024;
/** The most files of a message, or of a template. */
export const maxMessageFiles = 20;

const maxNameLength = 320;

/** Returns an id of an attachment, from 8 random bytes. */
export function toAttachmentId(random: Buffer): string {
  return (random.readBigUInt64BE() % 36n ** 8n).toString(36).padStart(8, '0');
}

/**
 * Returns a name as a label of one line: without control characters, and without those that change the direction of writing,
 * which can hide the end of the name. Without a name, one that is made of the file ending.
 */
export function attachmentName(given: string, fileEnding: string | null): string {
  const label = given
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, ' ')
    .trim();
  const name = cutChars(label, maxNameLength);
  return name === '' ? `attachment${fileEnding === null ? '' : `.${fileEnding}`}` : name;
}

/** Returns the ending of a file name in lower case, without the dot; null if it has none. */
export function readFileEnding(name: string): string | null {
  return /[^.]\.([a-z\d]{1,16})$/i.exec(name)?.[1]?.toLowerCase() ?? null;
}
