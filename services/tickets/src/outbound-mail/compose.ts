import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { savedName } from '@ticketing/files/download.ts';
import { startTimeSlice } from '@ticketing/runtime/time-slice.ts';
import MailComposer from 'nodemailer/lib/mail-composer';
import { encodeWord } from 'nodemailer/lib/mime-funcs';
import { normalAddress, type OutgoingMail } from '../message/rules/outgoing-mail.ts';
import { type TicketTokens, ticketTokenHeader } from '../message/rules/ticket-token.ts';
import { oneLine } from '../ticket/rules/one-line.ts';
import type { ComposedMail } from './transport.ts';

/** The inputs for composing a mail, besides the mail. */
export interface ComposeOptions {
  sender: { address: string; name: string | null };
  /** The recipients of the envelope. The headers name all of `to` and `cc`, also those that the mail has reached. */
  recipients: readonly string[];
  tokens: TicketTokens;
  /** Reads the bytes of a file of the mail. */
  openFile(attachment: AttachmentState): AsyncIterable<Uint8Array>;
}

const pieceBytes = 16 * 1024;

/**
 * Composes a mail. Every attempt composes the same bytes as long as subchannel and files are the same. Texts of the mail
 * can neither add nor end a header: addresses are checked and given as objects, and control characters become spaces.
 *
 * Source: docs/reference/api.md, Outgoing mail; docs/reference/guarantees.md, Untrusted input.
 */
export function composeMail(
  mail: OutgoingMail,
  { sender, recipients, tokens, openFile }: ComposeOptions,
): ComposedMail {
  const from = normalAddress(sender.address) ?? '';
  const open = () =>
    new MailComposer({
      messageId: mail.messageId,
      date: new Date(mail.queuedAt * 1000),
      from: { name: oneLine(sender.name ?? ''), address: from },
      to: mailboxes(mail.to),
      cc: mailboxes(mail.cc),
      subject: literalText(tokens.mark(oneLine(mail.subject), mail.ticketId)),
      ...(mail.references.length > 0 && {
        inReplyTo: mail.references.at(-1),
        references: [...mail.references],
      }),
      headers: {
        // Incoming mail with this header is refused, so that no mail of this system comes back into it.
        [ticketTokenHeader]: tokens.mark('', mail.ticketId),
        // Keeps vacation programs from replying (RFC 3834).
        ...(mail.isAutomatic && { 'Auto-Submitted': 'auto-replied' }),
      },
      text: textPart(mail.text),
      ...(mail.html !== null && { html: textPart(mail.html) }),
      attachments: mail.attachments.map((attachment) => ({
        filename: savedName(oneLine(attachment.name)),
        contentType: safeContentType(attachment),
        contentDisposition: attachment.inline ? 'inline' : 'attachment',
        contentTransferEncoding: 'base64',
        content: toStream(openFile(attachment)),
      })),
      baseBoundary: createHash('sha256').update(mail.messageId).digest('hex').slice(0, 24),
      disableFileAccess: true,
      disableUrlAccess: true,
    })
      .compile()
      .createReadStream();
  return { messageId: mail.messageId, envelope: { from, to: recipients }, open };
}

/** A text that looks encoded is encoded again, so that it arrives as it was written. */
function literalText(text: string): string {
  return text.includes('=?') ? encodeWord(text, 'Q', 52) : text;
}

/** In quoted-printable, which keeps spaces at the ends of lines. */
function textPart(text: string) {
  return { content: toStream(textPieces(text)), contentTransferEncoding: 'quoted-printable' };
}

/** The text with the line breaks of mails, piece by piece. */
function* textPieces(text: string): Generator<Uint8Array> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + pieceBytes;
    if (/^(\r\n|[\ud800-\udbff][\udc00-\udfff])$/.test(text.slice(end - 1, end + 1))) end += 1;
    yield Buffer.from(text.slice(start, end).replace(/\r\n?|\n/g, '\r\n'));
  }
}

/** Streams small pieces with pauses between them: encoding megabytes at once would delay all other work. */
function toStream(source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Readable {
  return Readable.from(inPieces(source), { objectMode: false });
}

async function* inPieces(source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const slice = startTimeSlice();
  for await (const bytes of source) {
    for (let start = 0; start < bytes.length; start += pieceBytes) {
      yield bytes.subarray(start, start + pieceBytes);
      if (slice.isOver()) await slice.pause();
    }
  }
}

function mailboxes(addresses: readonly string[]): { name: string; address: string }[] {
  const valid = new Set(addresses.flatMap((address) => normalAddress(address) ?? []));
  return [...valid].map((address) => ({ name: '', address }));
}

/** A part of these types may not be encoded in base64 (RFC 2046), and would be shown instead of saved. */
function safeContentType({ contentType }: AttachmentState): string {
  return /^(message|multipart)\//i.test(contentType) ? 'application/octet-stream' : contentType;
}
