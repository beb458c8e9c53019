import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { savedName } from '@ticketing/files/download.ts';
import { startTimeSlice } from '@ticketing/runtime/time-slice.ts';
import MailComposer from 'nodemailer/lib/mail-composer';
import { encodeWord } from 'nodemailer/lib/mime-funcs';
import {
  type OutgoingMail,
  type ReturnAddresses,
  recipientsLeft,
  type TicketTokens,
  ticketTokenHeader,
} from '../message/rules/outgoing-mail.ts';
import { comparedAddress, normalAddress, oneLine } from '../rules/mail-headers.ts';
import { chooseSender, isMailbox, type SenderSettings } from '../ticket/rules/subchannels.ts';
import { type EmbeddedImage, embedImages, showsFiles } from './embedded-images.ts';
import type { MailState } from './store.ts';
import type { ComposedMail, MailOutcome, MailTransport } from './transport.ts';

/** The dependencies of an attempt to send a mail. */
export interface AttemptContext {
  transport: MailTransport;
  openFile: ComposeOptions['openFile'];
  /** Finds the files of a ticket and of its messages. */
  findFiles(ticketId: number): Promise<readonly AttachmentState[]>;
  tokens: TicketTokens;
  returnAddresses: Pick<ReturnAddresses, 'make'>;
  /** Makes the text part of a mail with HTML. */
  toText(html: string, plain: string): Promise<string>;
  /** From 0 to 1. */
  random(): number;
}

/**
 * Makes one attempt to send a mail to the recipients that it has not reached yet. A mail is sent when it has reached
 * all recipients, and has failed when one was refused, or cannot be reached within the attempts of the schedule.
 *
 * Errors: that of the signal, when it aborts the attempt. Source: docs/reference/api.md, Outgoing mail.
 */
export async function attemptMail(
  context: AttemptContext,
  mail: OutgoingMail,
  settings: SenderSettings,
  signal: AbortSignal,
): Promise<MailState> {
  const attempts = mail.attempts + 1;
  const failed = (error: string): MailState => ({ status: 'failed', attempts, reached: mail.reached, error });
  const { from, fromName } = mail.from === null ? chooseSender(settings, [mail.subchannelId]) : mail;
  if (from === null) return failed('no_sender: neither the subchannel nor the setting mailFrom has an address');
  if (normalAddress(from) === undefined) return failed('no_sender: the address of the sender is not valid');
  const { addresses, invalid } = recipientsLeft(mail);
  if (addresses.length === 0 && invalid.length > 0) return failed('invalid_recipient: not an e-mail address');
  if (addresses.length === 0) {
    return mail.reached.length > 0
      ? { status: 'sent', attempts, reached: mail.reached, error: null }
      : failed('no_recipient: the mail has no recipient');
  }
  const { transport, openFile, tokens } = context;
  const ticketFiles = showsFiles(mail) ? await context.findFiles(mail.ticketId) : [];
  const text = mail.html === null ? mail.text : await context.toText(mail.html, mail.text);
  const composed = composeMail(
    { ...mail, text },
    {
      ticketFiles,
      sender: { address: from, name: fromName, returnAddress: findReturnAddress(context, settings, { ...mail, from }) },
      recipients: addresses,
      tokens,
      openFile,
    },
  );
  const outcome = await transport.send(composed, signal);
  return stateAfter(context, mail, invalid.length > 0 ? withInvalid(outcome, invalid) : outcome);
}

/** The signed address to which failures of a mail are reported; undefined if it is not sent from an enabled mailbox. */
function findReturnAddress(
  { returnAddresses }: Pick<AttemptContext, 'returnAddresses'>,
  { subchannels, returnAddress = null }: SenderSettings,
  { id, subchannelId, from }: Pick<OutgoingMail, 'id' | 'subchannelId'> & { from: string },
): string | undefined {
  if (returnAddress === null || !isMailbox(subchannelId, subchannels)) return undefined;
  const address = subchannels?.get(subchannelId)?.address ?? '';
  return comparedAddress(address) === comparedAddress(from) ? returnAddresses.make(returnAddress, from, id) : undefined;
}

function withInvalid(outcome: MailOutcome, invalid: readonly string[]): MailOutcome {
  const error = outcome.error ?? 'invalid_recipient: a recipient is not an e-mail address';
  return { ...outcome, refused: [...outcome.refused, ...invalid], error };
}

/** The state of a mail after an attempt with an outcome. */
export function stateAfter(
  { random }: Pick<AttemptContext, 'random'>,
  mail: OutgoingMail,
  { accepted, deferred, refused, error }: MailOutcome,
): MailState {
  const attempts = mail.attempts + 1;
  const reached = [...mail.reached, ...accepted];
  // Refused recipients are tried again with the deferred ones: their refusal shows when no other is left.
  const pauseMs = deferred.length > 0 ? mailPauseMs(attempts, random()) : undefined;
  if (pauseMs !== undefined) return { status: 'queued', attempts, reached, error, pauseMs };
  const isSent = deferred.length === 0 && refused.length === 0;
  return { status: isSent ? 'sent' : 'failed', attempts, reached, error };
}

const minute = 60_000;
const hour = 60 * minute;

/** The pauses after the attempts that have failed. */
const pausesMs = [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour, 24 * hour];
const jitter = 0.2;

/**
 * How long to wait before the next attempt to send a mail; undefined after the last one. `attempts` counts those that were
 * made, and `random` is from 0 to 1.
 *
 * Source: docs/reference/api.md, Outgoing mail.
 */
export function mailPauseMs(attempts: number, random: number): number | undefined {
  const pauseMs = pausesMs[attempts - 1];
  return pauseMs === undefined ? undefined : Math.round(pauseMs * (1 + jitter * (2 * random - 1)));
}

/** The inputs for composing a mail, besides the mail. */
export interface ComposeOptions {
  sender: { address: string; name: string | null; returnAddress?: string | undefined };
  /** The recipients of the envelope. The headers name all of `to` and `cc`, also those that the mail has reached. */
  recipients: readonly string[];
  tokens: TicketTokens;
  /** The files of the ticket that the text may show. */
  ticketFiles: readonly AttachmentState[];
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
  { sender, recipients, tokens, ticketFiles, openFile }: ComposeOptions,
): ComposedMail {
  const from = normalAddress(sender.address) ?? '';
  const { html, images } = embedImages(mail, ticketFiles);
  const shown = new Set(images.map(({ image }) => image));
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
      ...(mail.html !== null && { html: textPart(html) }),
      attachments: [
        ...mail.attachments.filter((attachment) => !shown.has(attachment)).map((file) => filePart(file, openFile)),
        ...images.map((image) => imagePart(image, openFile)),
      ],
      baseBoundary: createHash('sha256').update(mail.messageId).digest('hex').slice(0, 24),
      disableFileAccess: true,
      disableUrlAccess: true,
    })
      .compile()
      .createReadStream();
  return { messageId: mail.messageId, envelope: { from: sender.returnAddress ?? from, to: recipients }, open };
}

function filePart(attachment: AttachmentState, openFile: ComposeOptions['openFile']) {
  return {
    filename: savedName(oneLine(attachment.name)),
    contentType: safeContentType(attachment),
    contentDisposition: attachment.inline ? ('inline' as const) : ('attachment' as const),
    contentTransferEncoding: 'base64' as const,
    content: toStream(openFile(attachment)),
  };
}

/** An inline part. With its `cid` it becomes related to the HTML (RFC 2387). */
function imagePart({ cid, image }: EmbeddedImage, openFile: ComposeOptions['openFile']) {
  if (!('base64' in image)) return { ...filePart(image, openFile), cid, contentDisposition: 'inline' as const };
  const { contentType, base64 } = image;
  return {
    filename: `${cid.split('.', 1)[0]}.${contentType.split('/')[1]}`,
    ...{ cid, contentType, contentDisposition: 'inline' as const, contentTransferEncoding: 'base64' as const },
    content: toStream([Buffer.from(base64, 'base64')]),
  };
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
