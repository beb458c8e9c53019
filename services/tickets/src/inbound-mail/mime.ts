import { toBuffer } from '@ticketing/runtime/to-buffer.ts';
import { type MimeNode, Splitter, type SplitterChunk } from '@zone-eu/mailsplit';
import { decode as decodeQuotedPrintable } from 'libqp';
import { mailLimits as limits } from './mail.ts';
import { decodeHeader, type MailHeader, readParameters } from './mail-header.ts';

/** A part of a mail: a text, a file, or a group of parts. The mail itself is one. */
export interface MimePart {
  headers: readonly MailHeader[];
  /** In lower case, for example `text/plain`. */
  type: string;
  parameters: Readonly<Record<string, string>>;
  /** In lower case; empty if there is none. */
  disposition: string;
  /** The name of a file, as its sender has written it; empty if it has none. */
  name: string;
  /** The parts of a group. */
  parts: readonly MimePart[];
  /** The bytes of the part without its transfer encoding: exactly those that were sent. */
  content(): Buffer;
}

/** Why a mail cannot be split. */
export class MailStructureError extends Error {}

/** How many parts, and bytes of their headers, mails may have. */
export interface MailRoom {
  parts: number;
  headerBytes: number;
}

/** Makes the room of one mail, or of the mails within it together. */
export function mailRoom(): MailRoom {
  const { parts, headerBytes } = limits;
  return { parts, headerBytes };
}

/**
 * Splits a mail into its parts, which take room. The bytes of parts are views of the mail, and decoded once, when somebody
 * asks for them.
 *
 * Errors: MailStructureError, if it has too many headers or parts, or nests them too deep.
 */
export async function splitMail(raw: Uint8Array, room: MailRoom = mailRoom()): Promise<MimePart> {
  const mail = toBuffer(raw);
  const splitter = new Splitter({
    ignoreEmbedded: true,
    // The limit for the mail is checked below.
    maxHeadSize: 2 * limits.headerBytes,
    maxChildNodes: room.parts,
  });
  splitter.end(mail);
  const parts = new Map<MimeNode, OpenPart>();
  let root: MimePart | undefined;
  try {
    for await (const chunk of splitter as AsyncIterable<SplitterChunk>) {
      if (chunk.type === 'node') {
        room.parts -= 1;
        room.headerBytes -= chunk._headerlen;
        if (room.parts < 0) throw new MailStructureError(manyParts);
        if (room.headerBytes < 0) throw new MailStructureError(largeHeaders);
        const part = new OpenPart(mail, chunk, chunk.parentNode ? parts.get(chunk.parentNode) : undefined);
        parts.set(chunk, part);
        root ??= part;
      } else parts.get(chunk.node)?.add(chunk.value);
    }
  } catch (error) {
    throw structureError(error);
  }
  if (!root) throw new MailStructureError('The mail is empty.');
  return root;
}

const largeHeaders = 'The headers of the mail are too large.';
const manyParts = `The mail has more than ${limits.parts} parts.`;

function structureError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EMAXLEN') return error;
  const isOfHeaders = error.message.includes('header');
  return new MailStructureError(isOfHeaders ? largeHeaders : manyParts);
}

class OpenPart implements MimePart {
  readonly headers: readonly MailHeader[];
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly disposition: string;
  readonly name: string;
  readonly parts: MimePart[] = [];
  readonly #mail: Buffer;
  readonly #encoding: string;
  readonly #depth: number;
  #content: Buffer | undefined;
  #start = 0;
  #end = 0;

  constructor(mail: Buffer, { headers, contentType, multipart, encoding }: MimeNode, parent: OpenPart | undefined) {
    this.#depth = parent ? parent.#depth + 1 : 0;
    if (this.#depth > limits.depth) throw new MailStructureError('The parts of the mail are nested too deep.');
    const lines = headers ? headers.getList().map(({ line }) => decodeHeader(line)) : [];
    this.headers = lines.filter(({ key }) => key !== '');
    const type = readParameters(firstValue(this, 'content-type'));
    const disposition = readParameters(firstValue(this, 'content-disposition'));
    const isInDigest = parent?.type === 'multipart/digest' && type.value === '';
    // A type that is none, such as "text", counts as none (RFC 2045, section 5.2).
    this.type = isInDigest ? 'message/rfc822' : contentType && /.\/./.test(contentType) ? contentType : 'text/plain';
    this.parameters = type.parameters;
    this.disposition = disposition.value.toLowerCase();
    this.name = disposition.parameters.filename ?? type.parameters.name ?? '';
    this.#mail = mail;
    this.#encoding = multipart ? '' : encoding || '';
    parent?.parts.push(this);
  }

  /** Adds the next bytes of its body, which is one piece of the mail. A group of parts has none. */
  add({ buffer, byteOffset, length }: Buffer): void {
    if (this.parts.length > 0) return;
    // The library copies the end of a long line, whose other bytes it has passed on.
    const at = buffer === this.#mail.buffer ? byteOffset - this.#mail.byteOffset : this.#end;
    // The library passes on the line break before the boundary as the body of an empty part.
    const isEmpty =
      this.#depth > 0 && length <= 2 && this.#mail.toString('latin1', at + length, at + length + 2) === '--';
    if (isEmpty) return;
    if (this.#end === 0) this.#start = at;
    else if (at !== this.#end) throw new Error('A part of the mail is in several pieces.');
    this.#end = at + length;
  }

  content(): Buffer {
    this.#content ??= decodeTransfer(this.#mail.subarray(this.#start, this.#end), this.#encoding);
    return this.#content;
  }
}

/** Splits a message within a mail, as `splitMail`. Returns undefined if it exceeds a limit. */
export async function trySplitMail(raw: Uint8Array, room: MailRoom): Promise<MimePart | undefined> {
  try {
    return await splitMail(raw, room);
  } catch (error) {
    if (error instanceof MailStructureError) return undefined;
    throw error;
  }
}

/** The parts within a part that are no groups, in their order; the part itself if it is none. */
export function leaves(part: MimePart): readonly MimePart[] {
  return part.parts.length === 0 ? [part] : part.parts.flatMap(leaves);
}

/** The value of the first header of a name; empty if there is none. */
export function firstValue({ headers }: Pick<MimePart, 'headers'>, name: string): string {
  return headers.find(({ key }) => key === name)?.value ?? '';
}

function decodeTransfer(bytes: Buffer, encoding: string): Buffer {
  if (encoding.includes('base64')) return decodeBase64(bytes.toString('latin1'));
  if (encoding.includes('quoted-printable')) return decodeQuotedPrintable(bytes);
  return bytes;
}

/** Decodes base64. Some programs pad every line. */
function decodeBase64(text: string): Buffer {
  const padding = text.indexOf('=');
  if (padding === -1 || !/[^=\s]/.test(text.slice(padding))) return Buffer.from(text, 'base64');
  const bytes = Buffer.alloc(text.length);
  let length = 0;
  for (const unit of text.split(/=+/)) length += bytes.write(unit, length, 'base64');
  return bytes.subarray(0, length);
}
