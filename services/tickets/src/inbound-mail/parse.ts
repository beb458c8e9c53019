import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { cutBytes, cutChars } from '@ticketing/runtime/cut-text.ts';
import PostalMime, { type Address, type Attachment, type Email, type Header, type Mailbox } from 'postal-mime';
import { foldedAddress, oneLine } from '../rules/mail-headers.ts';
import { mailLimits as limits, type MailFile, mailLimits, type ParsedMail, type UnreadableMail } from './mail.ts';
import { answeredIds, ownMessageId, threadIds } from './message-ids.ts';

/** The fields of a parser that are not in its types. */
interface Parser {
  textTypes: Set<string>;
  textMap: Map<unknown, { plain?: unknown; html?: unknown }>;
}

const name = 'renderTextContent';
const render: unknown = Reflect.get(PostalMime.prototype, name);
if (typeof render !== 'function') throw new Error(`postal-mime has no ${name} any more.`);

/**
 * Keeps postal-mime from making texts of HTML, also of a message within a mail: nobody reads them, because the HTML is the
 * body, and 8 KiB of `href=` in a tag took 20 s. The text of a mail consists of the parts that are text.
 *
 * Source: docs/decisions/0062-parts-of-mail-libraries-are-replaced.md.
 */
Reflect.set(PostalMime.prototype, name, function (this: Parser) {
  const { textTypes, textMap } = this;
  for (const type of textTypes) {
    this.textTypes = new Set([type]);
    this.textMap = type === 'html' ? textMap : new Map([...textMap].filter(([, { plain }]) => plain));
    Reflect.apply(render, this, []);
  }
  Object.assign(this, { textTypes, textMap });
});

/**
 * Reads a mail in the format of RFC 5322. Texts beyond their limits are cut, control characters in headers are replaced
 * by spaces, and addresses that are not valid are kept as texts, so that few mails are unreadable: those that are empty,
 * have no sender, are nested too deep, or have too many headers or files.
 */
export async function parseMail(raw: Uint8Array): Promise<ParsedMail | UnreadableMail> {
  if (raw.length > limits.bytes) return tooLarge('The mail has more than 40 MiB.');
  const email = await read(raw);
  if ('problem' in email) return email;
  const sender = readSender(email);
  if (!sender) return unreadable('The mail has no sender.');
  const { html, text = textWithoutParts(email, raw) } = email;
  const body = cutBytes((html ?? text).replaceAll('\0', ''), limits.bodyBytes);
  if (email.attachments.length > limits.files) return unreadable(`The mail has more than ${limits.files} files.`);
  const files = email.attachments.map((attachment, index) => readFile(attachment, index, html));
  const problem = findSizeProblem(files);
  if (problem) return problem;
  return {
    messageId: ownMessageId(email.messageId ?? ''),
    digest: email.date === undefined ? sha256(raw) : contentDigest({ ...email, from: sender.from, body, files }),
    answeredIds: answeredIds(email),
    references: threadIds(email),
    date: readDate(email),
    ...sender,
    to: readAddresses(email.to),
    cc: readAddresses(email.cc),
    replyTo: readAddresses(email.replyTo),
    subject: cutChars(oneLine(email.subject ?? '').trim(), limits.subjectChars) || null,
    body: body.trim() === '' ? null : body,
    isHtml: html !== undefined,
    headers: keptHeaders(email.headers),
    files,
  };
}

type DigestedMail = Pick<Email, 'date' | 'subject'> & Pick<ParsedMail, 'from' | 'files'> & { body: string };

/** The digest of what a mail says. Headers that differ between two transfers of a mail are no part of it. */
function contentDigest({ from, date, subject = '', body, files }: DigestedMail): string {
  const parts = files.map(({ name, bytes }) => [name, sha256(bytes)]);
  return sha256(JSON.stringify([foldedAddress(from), date, subject, body, parts]));
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

async function read(raw: Uint8Array): Promise<Email | UnreadableMail> {
  const options = {
    maxNestingDepth: limits.depth,
    maxHeadersSize: limits.headerBytes,
    maxRfc822NestingDepth: limits.messageDepth,
  };
  try {
    const email = await PostalMime.parse(raw, options);
    if (email.headers.length === 0) return unreadable('The mail is empty.');
    return hasUndecoded(email) ? await PostalMime.parse(declareCharset(raw), options) : email;
  } catch (error) {
    // These are the errors for its limits.
    const message = error instanceof Error ? error.message : '';
    if (message.startsWith('Maximum header size')) return unreadable('The headers of the mail are too large.');
    if (message.startsWith('Maximum MIME nesting depth'))
      return unreadable('The parts of the mail are nested too deep.');
    throw error;
  }
}

function hasUndecoded({ subject, from, to, cc, html, text }: Email): boolean {
  const names = [from, ...(to ?? []), ...(cc ?? [])].map((one) => one?.name);
  return [subject, ...names, html, text].some((one) => one?.includes('\ufffd'));
}

/** Reads a multipart mail as one text if it names no boundary or never uses it; empty for any other mail. */
function textWithoutParts({ headers, attachments }: Email, raw: Uint8Array): string {
  const type = headers.find(({ key }) => key === 'content-type')?.value ?? '';
  if (attachments.length > 0 || !/^multipart\//i.test(type)) return '';
  const mail = Buffer.from(raw.buffer, raw.byteOffset, raw.length);
  const boundary = /boundary *= *"?([^";]+)/i.exec(type)?.[1];
  if (boundary !== undefined && mail.includes(`\n--${boundary.trim()}`)) return '';
  const starts = ['\n\n', '\n\r\n'].map((end) => [mail.indexOf(end), end.length] as const);
  const [at = -1, length = 0] = starts.filter(([start]) => start !== -1).sort(([a], [b]) => a - b)[0] ?? [];
  const body = at === -1 ? Buffer.of() : mail.subarray(at + length, at + length + limits.bodyBytes);
  return isUtf8(body) ? body.toString() : new TextDecoder('windows-1252').decode(body);
}

function readSender({
  from,
  sender,
  replyTo,
  returnPath,
}: Email): { from: string; fromName: string | null } | undefined {
  for (const one of [from, sender, replyTo?.[0], returnPath && { name: '', address: returnPath }]) {
    const mailbox = one && flattenGroups([one])[0];
    if (!mailbox) continue;
    const name = cutChars(oneLine(mailbox.name).trim(), limits.nameChars);
    const address = addressText(mailbox);
    if (address !== '') return { from: address, fromName: name || null };
    if (name !== '') return { from: name, fromName: name };
  }
  return undefined;
}

function readAddresses(list: readonly Address[] = []): string[] {
  const addresses = flattenGroups(list).map(addressText);
  return [...new Set(addresses)].filter((address) => address !== '').slice(0, limits.recipients);
}

function flattenGroups(list: readonly Address[]): Mailbox[] {
  return list.flatMap((one) => one.group ?? [one]);
}

/** The text of an address; empty if it is too long. */
function addressText({ address }: Mailbox): string {
  const text = oneLine(address).trim();
  return text.length > limits.nameChars ? '' : text;
}

function readDate({ date }: Email): number | null {
  const ms = date === undefined ? Number.NaN : Date.parse(date);
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
}

function readFile(attachment: Attachment, index: number, html = ''): MailFile {
  const { filename, mimeType, contentId, content } = attachment;
  const id = contentId?.trim().replace(/^<|>$/g, '');
  const name = cutChars(oneLine(filename ?? '').trim(), limits.nameChars) || defaultName(mimeType, index);
  const bytes = typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content);
  return { name, bytes, inline: id ? html.includes(`cid:${id}`) : false };
}

function defaultName(mimeType: string, index: number): string {
  if (mimeType === 'message/rfc822') return `message-${index + 1}.eml`;
  if (mimeType === 'text/calendar') return `invitation-${index + 1}.ics`;
  return `file-${index + 1}`;
}

function findSizeProblem(files: readonly MailFile[]): UnreadableMail | undefined {
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
function keptHeaders(headers: readonly Header[]): Record<string, string | string[]> {
  const kept = new Map<string, string[]>();
  let chars = 0;
  for (const { key, value } of headers) {
    if (!headerName.test(key)) continue;
    const text = cutChars(oneLine(value).trim(), mailLimits.keptHeaderValueChars);
    chars += key.length + text.length;
    if (chars > mailLimits.keptHeaderChars) break;
    const values = kept.get(key);
    if (values) values.push(text);
    else kept.set(key, [text]);
  }
  return Object.fromEntries(
    [...kept].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}

const windows1252 = new TextDecoder('windows-1252');
const startsWithHeader = /^[!-9;-~]+:/;
const emptyLine = /\n\r?\n/g;

/**
 * Declares the texts and headers of a mail that name no charset as windows-1252, of which ISO 8859-1 is a part: old
 * programs send them so, but the parser reads them as UTF-8. Time is linear in the input.
 */
function declareCharset(raw: Uint8Array): Buffer {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString('latin1');
  const pieces: string[] = [];
  let done = 0;
  for (let start = 0; start !== -1; start = afterNextBoundary(text, done)) {
    emptyLine.lastIndex = start;
    const end = emptyLine.exec(text)?.index ?? text.length;
    pieces.push(text.slice(done, start), declaredBlock(text.slice(start, end), start === 0).toString('latin1'));
    done = end;
  }
  pieces.push(text.slice(done));
  return Buffer.from(pieces.join(''), 'latin1');
}

/** The start of the line after the next one that looks like a boundary; -1 if there is none. */
function afterNextBoundary(text: string, from: number): number {
  const boundary = text.indexOf('\n--', from);
  const next = boundary === -1 ? -1 : text.indexOf('\n', boundary + 1);
  return next === -1 ? -1 : next + 1;
}

/** Returns a block of headers in UTF-8 and with a charset for its text, and any other block as it is. */
function declaredBlock(block: string, isFirst: boolean): Buffer {
  const bytes = Buffer.from(block, 'latin1');
  if (!isFirst && !startsWithHeader.test(block)) return bytes;
  const headers = isUtf8(bytes) ? bytes.toString() : windows1252.decode(bytes);
  return Buffer.from(withCharset(headers, isFirst));
}

function withCharset(headers: string, isFirst: boolean): string {
  const charset = 'charset=windows-1252';
  const type = /^content-type[ \t]*:(?:[^\n]|\n[ \t])*/im.exec(headers)?.[0];
  if (type === undefined) return isFirst ? `${headers}\nContent-Type: text/plain; ${charset}` : headers;
  if (/charset/i.test(type)) return headers;
  return headers.replace(/^(content-type[ \t]*:\s*text\/[\w.+-]+)/im, `$1; ${charset}`);
}
