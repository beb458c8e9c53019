import { createHash } from 'node:crypto';
import { cutChars } from '@ticketing/runtime/cut-text.ts';
import { digestPrefix } from '../message/external-id-store.ts';
import { foldedAddress, oneLine } from '../rules/mail-headers.ts';
import { readAddresses, readAuthor } from './addresses.ts';
import { readDeliveryReport } from './delivery-report.ts';
import { mailLimits as limits, type MailFile, type ParsedMail, type UnreadableMail } from './mail.ts';
import { type ReadOptions, readContent } from './mail-content.ts';
import { decodeWords, type MailHeader } from './mail-header.ts';
import { answeredIds, ownMessageId, threadIds } from './message-ids.ts';
import { leaves, MailStructureError, type MimePart, splitMail } from './mime.ts';

/**
 * Reads a mail in the format of RFC 5322. Texts beyond their limits are cut, control characters in headers are replaced
 * by spaces, and addresses that are not valid are kept as texts, so that few mails are unreadable: those that are empty,
 * have no sender, are nested too deep, or have too many headers, parts or files.
 */
export async function parseMail(raw: Uint8Array, options?: ReadOptions): Promise<ParsedMail | UnreadableMail> {
  if (raw.length > limits.bytes) return tooLarge('The mail has more than 40 MiB.');
  try {
    return await parse(raw, options);
  } catch (error) {
    if (error instanceof MailStructureError) return unreadable(error.message);
    throw error;
  }
}

async function parse(raw: Uint8Array, options: ReadOptions | undefined): Promise<ParsedMail | UnreadableMail> {
  const mail = await splitMail(raw);
  if (mail.headers.length === 0) return unreadable('The mail is empty.');
  const listValues = (...names: readonly string[]) =>
    names.flatMap((name) => mail.headers.filter(({ key }) => key === name).map(({ value }) => value));
  const author = readAuthor(listValues('from', 'sender', 'reply-to', 'return-path'));
  if (!author) return unreadable('The mail has no sender.');
  const { body, isHtml, files } = await readContent(mail, options);
  const problem = findProblem(files);
  if (problem) return problem;
  const [date] = listValues('date');
  const messageId = ownMessageId(listValues('message-id')[0] ?? '');
  const sentAt = readDate(date);
  // Forms write mails without an id for many people.
  const told = [
    foldedAddress(author.from),
    date ?? '',
    listValues('subject')[0] ?? '',
    ...(messageId === null ? listValues('reply-to') : []),
  ];
  const report = await readDeliveryReport(mail);
  const subject = cutChars(oneLine(decodeWords(listValues('subject')[0] ?? '')).trim(), limits.subjectChars) || null;
  return {
    messageId,
    digest: toDigest(sentAt === null ? raw : content(mail, told)),
    answeredIds: answeredIds(mail, report?.messageIds),
    references: threadIds(mail),
    date: sentAt,
    ...author,
    to: readAddresses(listValues('to')),
    cc: readAddresses(listValues('cc')),
    replyTo: readAddresses(listValues('reply-to')),
    subject,
    body: body.trim() === '' ? null : body,
    isHtml,
    headers: keptHeaders(mail.headers),
    report,
    files,
  };
}

/**
 * Returns what a mail says, of which its digest is made. Headers, transfer encodings and line breaks that differ between
 * two transfers of it are no part of it, and nor is how this version reads charsets and texts: a mail stays known when
 * that changes.
 */
function content(mail: MimePart, texts: readonly string[]): string {
  const unfolded = texts.map((text) => text.replace(/\s+/g, ' ').trim());
  return JSON.stringify([unfolded, leaves(mail).map(partDigest)]);
}

function partDigest(part: MimePart): string {
  const bytes = part.content();
  if (!part.type.startsWith('text/')) return sha256(bytes);
  return sha256(bytes.toString('latin1').replace(/\r\n?/g, '\n').trimEnd());
}

function toDigest(data: string | Uint8Array): string {
  return digestPrefix + sha256(data);
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

function readDate(date: string | undefined): number | null {
  const ms = date === undefined ? Number.NaN : Date.parse(date);
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
}

function findProblem(files: readonly MailFile[]): UnreadableMail | undefined {
  if (files.length > limits.files) return unreadable(`The mail has more than ${limits.files} files.`);
  if (files.some(({ bytes }) => bytes.length > limits.fileBytes)) {
    return tooLarge('A file of the mail has more than 20 MiB.');
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  return bytes > limits.filesBytes ? tooLarge('The files of the mail have more than 25 MiB together.') : undefined;
}

const unreadable = (problem: string): UnreadableMail => ({ problem, isTooLarge: false });
const tooLarge = (problem: string): UnreadableMail => ({ problem, isTooLarge: true });

const headerName = /^[!-9;-~]{1,100}$/;

/**
 * The headers of a mail as `rawData.headers` has them: by names in lower case, a list where a header occurs several
 * times. Headers beyond the limit are left out, and longer values are cut.
 */
function keptHeaders(headers: readonly MailHeader[]): Record<string, string | string[]> {
  const kept = new Map<string, string[]>();
  let chars = 0;
  for (const { key, value } of headers) {
    if (!headerName.test(key)) continue;
    const text = cutChars(oneLine(value).trim(), limits.keptHeaderValueChars);
    chars += key.length + text.length;
    if (chars > limits.keptHeaderChars) break;
    const values = kept.get(key);
    if (values) values.push(text);
    else kept.set(key, [text]);
  }
  return Object.fromEntries(
    [...kept].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}
