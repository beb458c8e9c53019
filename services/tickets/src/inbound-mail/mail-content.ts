import { cutBytes, cutChars } from '@ticketing/runtime/cut-text.ts';
import libmime from 'libmime';
import { oneLine } from '../rules/mail-headers.ts';
import { declaredInHtml, decodeText } from './charsets.ts';
import { mailLimits as limits, type MailFile } from './mail.ts';
import { decodeWords } from './mail-header.ts';
import { connectImages, type ImageFile } from './mail-images.ts';
import { firstValue, type MimePart, mailRoom, trySplitMail } from './mime.ts';
import { readSignedMail } from './signed-mail.ts';
import { readTnef } from './tnef.ts';

/** The text of a mail and its files, in the order of the mail. */
export interface MailContent {
  body: string;
  isHtml: boolean;
  files: readonly MailFile[];
}

/** How a mail is read. */
export interface ReadOptions {
  /** Whether the text carries its images itself, within the limit of a body, instead of naming files. */
  embedsImages?: boolean;
}

/** A text in one or two forms. */
interface MailText {
  plain?: string;
  html?: string;
}

/** Where a part is. */
interface Place {
  /** The text of which it is a form, within `multipart/alternative`. */
  alternative: MailText | undefined;
  isInReport: boolean;
  /** In how many messages within the mail. */
  depth: number;
}

/**
 * Reads the text and the files of a mail. Messages within it, and what programs wrap into files of their own, are read
 * down to a depth, and are files below it.
 *
 * Source: docs/reference/api.md, Incoming mail.
 */
export async function readContent(mail: MimePart, { embedsImages = false }: ReadOptions = {}): Promise<MailContent> {
  const collector = new Collector();
  await collector.add(mail, { alternative: undefined, isInReport: false, depth: 0 });
  const { texts } = collector;
  const files = withinLimits(collector.files);
  const isHtml = texts.some(({ html }) => html !== undefined);
  const shown = texts.map(({ plain = '', html }) => (isHtml ? (html ?? toHtml(plain)) : plain));
  const body = cutBytes(shown.join('\n').replaceAll('\0', ''), limits.bodyBytes);
  const { html, shown: images } = connectImages(isHtml ? body : '', files, {
    maxBytes: limits.bodyBytes,
    embeds: embedsImages,
  });
  return { body: isHtml ? html : body, isHtml, files: files.map((file) => toMailFile(file, images.has(file))) };
}

/** A file as its sender has written it. Texts are not decoded. */
interface SentFile extends ImageFile {
  name: string;
  type: string;
  /** Whether its content is among the files and texts too. */
  isUnpacked: boolean;
}

class Collector {
  readonly texts: MailText[] = [];
  readonly files: SentFile[] = [];
  /** For the messages within the mail, together. */
  readonly #room = mailRoom();
  #hasTnef = false;

  async add(part: MimePart, place: Place): Promise<void> {
    const { type, disposition, parts } = part;
    if (type.startsWith('multipart/')) return this.#addGroup(part, place);
    const isAttached = disposition === 'attachment';
    if (type === 'message/rfc822' && !isAttached && !place.isInReport && place.depth < limits.messageDepth) {
      return this.#addMessage(part, place);
    }
    if (!isAttached && this.#isBody(part, place)) return this.#addText(part, place);
    const wrapped = place.depth < limits.messageDepth ? await this.#addWrapped(part, place) : undefined;
    if (wrapped !== 'replaced' && parts.length === 0) this.#addFile(part, wrapped === 'unpacked');
  }

  /** Whether a part that is not attached is a text of the mail. Some programs name the forms of a text like files. */
  #isBody(part: MimePart, { alternative }: Place): boolean {
    const isFirst = this.texts.length === 0;
    return isText(part) ? part.name === '' || isFirst || alternative !== undefined : isFirst && isOtherText(part);
  }

  async #addGroup(part: MimePart, place: Place): Promise<void> {
    const { type, parts } = part;
    // A group whose boundary is missing or never occurs is a text.
    if (parts.length === 0) return this.#addText(part, place);
    const isInReport = place.isInReport || type === 'multipart/report';
    let { alternative } = place;
    if (type === 'multipart/alternative' && !alternative) {
      alternative = {};
      this.texts.push(alternative);
    }
    for (const one of parts) await this.add(one, { ...place, isInReport, alternative });
  }

  #addText(part: MimePart, { alternative }: Place): void {
    const isHtml = part.type === 'text/html';
    const text = decodePart(part);
    if (isHtml && text.trim() === '') return;
    if (!alternative) this.texts.push(isHtml ? { html: text } : { plain: text });
    else if (isHtml) alternative.html = joined(alternative.html, text);
    else alternative.plain = joined(alternative.plain, text);
  }

  async #addMessage(part: MimePart, { depth }: Place): Promise<void> {
    const mail = await trySplitMail(part.content(), this.#room);
    if (!mail) return this.#addFile(part);
    this.texts.push({ plain: headLines(mail) });
    await this.add(mail, { alternative: undefined, isInReport: false, depth: depth + 1 });
  }

  /** Adds what a program has wrapped into a file. Returns whether the file itself is needed besides. */
  async #addWrapped(part: MimePart, { depth }: Place): Promise<'replaced' | 'unpacked' | undefined> {
    if (isTnef(part)) return this.#addTnef(part.content()) ? 'replaced' : undefined;
    if (!isSigned(part)) return undefined;
    const signed = readSignedMail(part.content());
    const mail = signed && (await trySplitMail(signed, this.#room));
    if (!mail) return undefined;
    this.texts.push({ plain: unverified });
    await this.add(mail, { alternative: undefined, isInReport: false, depth: depth + 1 });
    return 'unpacked';
  }

  /** Unpacks the first one only, since reading takes seconds at worst, and no program sends two. */
  #addTnef(bytes: Uint8Array): boolean {
    if (this.#hasTnef) return false;
    const content = readTnef(bytes, { bodyBytes: limits.bodyBytes, files: limits.files + 1 });
    if (!content) return false;
    this.#hasTnef = true;
    const { body, isHtml, files } = content;
    const hasText = this.texts.some(({ plain = '', html = '' }) => plain.trim() !== '' || html.trim() !== '');
    if (!hasText && body !== null) this.texts.splice(0, Infinity, isHtml ? { html: body } : { plain: body });
    for (const { name, mimeType, contentId, ...file } of files) {
      const ids = toContentIds(contentId ?? '', '');
      this.files.push({ ...file, ...ids, name: name ?? '', type: mimeType ?? '', isUnpacked: false });
    }
    return true;
  }

  #addFile(part: MimePart, isUnpacked = false): void {
    this.files.push({
      name: part.name,
      type: part.type,
      isUnpacked,
      ...toContentIds(firstValue(part, 'content-id'), firstValue(part, 'content-location')),
      bytes: part.content(),
    });
  }
}

/** The files, without those that were unpacked if the others alone are within the limits. */
function withinLimits(files: readonly SentFile[]): readonly SentFile[] {
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  const isWithin = bytes <= limits.filesBytes && files.every((file) => file.bytes.length <= limits.fileBytes);
  return isWithin ? files : files.filter(({ isUnpacked }) => !isUnpacked);
}

const unverified = '[The signature of the following text was not verified.]\n';

const joined = (before: string | undefined, text: string) => (before === undefined ? text : `${before}\n${text}`);

function isText({ type }: MimePart): boolean {
  return type === 'text/plain' || type === 'text/html';
}

/** Whether a part is of another type of texts that people read (RFC 2046, section 4.1.4). */
function isOtherText({ type, name }: MimePart): boolean {
  return name === '' && /^text\/(?!(?:x-)?v?(?:calendar|card)$|directory$|csv$|rtf$|xml$)/.test(type);
}

function isTnef({ type, name }: MimePart): boolean {
  return /^application\/(?:vnd\.)?ms-tnef$/.test(type) || /^winmail\.dat$/i.test(name);
}

/** Whether a part may have a signed message. Some programs say so by the name alone (RFC 8551, section 3.2.2). */
function isSigned({ type, name, parameters }: MimePart): boolean {
  if (!/^application\/(?:x-)?pkcs7-mime$/.test(type)) return /\.p7m$/i.test(name);
  return !/^(?:enveloped|compressed)/i.test(parameters['smime-type'] ?? '');
}

function decodePart(part: MimePart): string {
  const bytes = part.content();
  const { charset, format = '', delsp = '' } = part.parameters;
  const isHtml = part.type === 'text/html';
  const text = decodeText(bytes, charset, isHtml ? declaredInHtml(bytes) : undefined).replace(/\r\n?/g, '\n');
  const isFlowed = !isHtml && /^flowed$/i.test(format);
  return isFlowed ? libmime.decodeFlowed(text, /^yes$/i.test(delsp)) : text;
}

const shownHeaders = ['From', 'Subject', 'Date', 'To', 'Cc'];

/** The head of a message within a mail, as programs show it: the headers as they are written. */
function headLines(mail: MimePart): string {
  const lines = shownHeaders.flatMap((name) => {
    const value = firstValue(mail, name.toLowerCase());
    return value === '' ? [] : [`${name}: ${cutChars(oneLine(decodeWords(value)), limits.subjectChars)}`];
  });
  return `\n${lines.join('\n')}\n`;
}

function toHtml(plain: string): string {
  const escaped = plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<div>${escaped.replaceAll('\n', '<br>\n')}</div>`;
}

/** By what a text may show a file. A file that has only a location has it as its id, so that clients can find it. */
function toContentIds(id: string, location: string): Pick<SentFile, 'contentId' | 'location'> {
  const [written, place] = [oneLine(id).trim().replace(/^<|>$/g, ''), oneLine(location).trim()];
  const [contentId = null] = [written, place].filter((text) => text !== '' && text.length <= limits.contentIdChars);
  return { contentId, location: place };
}

function toMailFile({ name, type, contentId, bytes }: SentFile, inline: boolean): MailFile {
  const shown = cutChars(oneLine(name).trim(), limits.nameChars) || defaultName(type);
  return { name: shown, bytes, inline, contentId };
}

/** A name by the declared type; empty if that says nothing, so that the content decides. */
function defaultName(type: string): string {
  const extension = type === 'message/rfc822' ? 'eml' : libmime.detectExtension(type);
  return extension === 'bin' ? '' : `attachment.${extension}`;
}
