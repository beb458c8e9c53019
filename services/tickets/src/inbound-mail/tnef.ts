import { cutBytes } from '@ticketing/runtime/cut-text.ts';
import { toBuffer } from '@ticketing/runtime/to-buffer.ts';
import { decodeCodePage, decompressRtf, readRtf } from './rtf.ts';

/** The content of a `winmail.dat`. */
export interface TnefContent {
  subject: string | null;
  body: string | null;
  isHtml: boolean;
  files: readonly TnefFile[];
}

/** A file in a `winmail.dat`, in the words of its sender. */
export interface TnefFile {
  name: string | null;
  bytes: Uint8Array;
  mimeType: string | null;
  contentId: string | null;
}

/** `bodyBytes` limits the body, and also the texts of all messages within the message together. Units: bytes of UTF-8. */
export interface TnefLimits {
  bodyBytes: number;
  files: number;
}

/**
 * Reads a message in the format that Outlook and Exchange send as `winmail.dat`. Returns undefined for other bytes. A
 * damaged message gives what stands before the damage. Takes linear time, and a small multiple of the input in memory.
 *
 * A message within the message becomes files: its text, as `message-N.html` or `message-N.txt` in UTF-8, and its files.
 * One that has neither, or is more than two levels deep, stays one file.
 *
 * Shape: line breaks of the body are line feeds. At most `limits.files` files; their bytes are views of the input, except
 * those of texts.
 * Source: https://learn.microsoft.com/openspecs/exchange_server_protocols/ms-oxtnef/c27c89ec-7f8b-48d3-9e27-dc7600d23854.
 */
export function readTnef(bytes: Uint8Array, limits: TnefLimits): TnefContent | undefined {
  const source = toBuffer(bytes);
  if (!isTnef(source)) return undefined;
  const { message, attachments } = scanMessage(source, limits.files);
  const list = new FileList(limits);
  list.addAll(attachments, readCodePage(message), 0);
  const { body, isHtml } = readBody(message, toBudget(limits));
  return { subject: readSubject(message), body, isHtml, files: list.files };
}

const signature = 0x223e9f78;
const headerBytes = 6;

/** The attributes that are read, and two lists of properties. */
const attributes = {
  subject: 0x8004,
  body: 0x800c,
  attachData: 0x800f,
  attachTitle: 0x8010,
  /** The first attribute of each attachment. */
  attachRenderData: 0x9002,
  messageProperties: 0x9003,
  attachmentProperties: 0x9005,
  codePage: 0x9007,
};

/** The properties that are read. Properties from 0x8000 on have names. */
const properties = {
  subject: 0x0037,
  body: 0x1000,
  rtf: 0x1009,
  html: 0x1013,
  displayName: 0x3001,
  attachData: 0x3701,
  attachName: 0x3704,
  attachLongName: 0x3707,
  attachMimeType: 0x370e,
  attachContentId: 0x3712,
  internetCodePage: 0x3fde,
};
const firstNamedProperty = 0x8000;

const attributeIds = new Set(Object.values(attributes));
const propertyIds = new Set(Object.values(properties));

const types = { object: 0x000d, string8: 0x001e, unicode: 0x001f, binary: 0x0102 };
/** The types of variable size: also server ids, restrictions and actions. */
const variableTypes = new Set([...Object.values(types), 0x00fb, 0x00fd, 0x00fe]);
/** Marks a type as multi-valued. */
const multiple = 0x1000;
const singleType = 0x0fff;
/** The bytes of the other types: null, integers, floats, currency, error, boolean, times and GUID. */
const fixedSizes = new Map([
  [0x0001, 0],
  [0x0002, 2],
  [0x0003, 4],
  [0x0004, 4],
  [0x0005, 8],
  [0x0006, 8],
  [0x0007, 8],
  [0x000a, 4],
  [0x000b, 2],
  [0x0014, 8],
  [0x0040, 8],
  [0x0048, 16],
]);

interface Value {
  type: number;
  bytes: Buffer;
}

/** Values that are not decoded yet, by the numbers of their attributes and properties, which differ. */
type Values = Map<number, Value>;

/** Reads numbers and bytes one after another. After a read beyond the end, everything is empty. */
class Cursor {
  readonly #bytes: Buffer;
  #at = 0;
  isDamaged = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  take(size: number): Buffer {
    if (size > this.left) return this.fail();
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }

  /** Reads an unsigned number of at most four bytes. */
  number(size: number): number {
    if (size > this.left) this.fail();
    if (this.isDamaged) return 0;
    this.#at += size;
    return this.#bytes.readUIntLE(this.#at - size, size);
  }

  /** Reads bytes, and those after them up to a multiple of four, which the last value may lack. */
  takePadded(size: number): Buffer {
    const bytes = this.take(size);
    this.#at += Math.min(-size & 3, this.left);
    return bytes;
  }

  fail(): Buffer {
    this.isDamaged = true;
    this.#at = this.#bytes.length;
    return this.#bytes.subarray(this.#at);
  }
}

function isTnef(bytes: Buffer): boolean {
  return bytes.length >= headerBytes && bytes.readUInt32LE(0) === signature;
}

/** Finds the values of a message and of its attachments. Those without content, such as links, are left out. */
function scanMessage(source: Buffer, maxAttachments: number): { message: Values; attachments: Values[] } {
  const cursor = new Cursor(source.subarray(headerBytes));
  const message: Values = new Map();
  const attachments: Values[] = [];
  let attachment: Values = new Map();
  const endAttachment = () => {
    const hasContent = attachment.has(attributes.attachData) || attachment.has(properties.attachData);
    if (hasContent && attachments.length < maxAttachments) attachments.push(attachment);
    attachment = new Map();
  };
  while (cursor.left > 0) {
    const level = cursor.number(1);
    const id = cursor.number(4) & 0xffff;
    const size = cursor.number(4);
    if (cursor.isDamaged || (level !== 1 && level !== 2)) break;
    const isWhole = size <= cursor.left;
    const bytes = cursor.take(Math.min(size, cursor.left));
    cursor.take(Math.min(2, cursor.left));
    const values = level === 1 ? message : attachment;
    if (id === attributes.messageProperties || id === attributes.attachmentProperties) addProperties(bytes, values);
    else if (id === attributes.attachRenderData) endAttachment();
    else if (isWhole && attributeIds.has(id)) values.set(id, { type: types.string8, bytes });
  }
  endAttachment();
  return { message, attachments };
}

/** Adds the properties of a list up to where it is damaged. */
function addProperties(bytes: Buffer, values: Values): void {
  const cursor = new Cursor(bytes);
  for (let count = cursor.number(4); count > 0 && cursor.left > 0; count--) {
    const type = cursor.number(2);
    const id = cursor.number(2);
    if (id >= firstNamedProperty) skipName(cursor);
    const value = readValue(cursor, type);
    if (cursor.isDamaged) return;
    if (value && propertyIds.has(id)) values.set(id, { type: type & singleType, bytes: value });
  }
}

function skipName(cursor: Cursor): void {
  cursor.take(16);
  const kind = cursor.number(4);
  const size = cursor.number(4);
  if (kind === 1) cursor.takePadded(size);
  else if (kind !== 0) cursor.fail();
}

/** Reads the values of a property, and returns the first. A property of an unknown type has an unknown size. */
function readValue(cursor: Cursor, type: number): Buffer | undefined {
  const single = type & singleType;
  const size = fixedSizes.get(single);
  const isVariable = variableTypes.has(single);
  const count = isVariable || (type & multiple) !== 0 ? cursor.number(4) : 1;
  if (size !== undefined) return cursor.take(count * (size + (-size & 3))).subarray(0, size);
  if (!isVariable) return cursor.fail();
  let first: Buffer | undefined;
  for (let index = 0; index < count && !cursor.isDamaged; index++) {
    const value = cursor.takePadded(cursor.number(4));
    first ??= value;
  }
  return first;
}

const defaultCodePage = 1252;

/** The code page of the 8-bit texts of a message. */
function readCodePage(message: Values): number {
  return readNumber(message, attributes.codePage) ?? defaultCodePage;
}

function readNumber(values: Values, id: number): number | undefined {
  const bytes = values.get(id)?.bytes;
  return bytes && bytes.length >= 4 ? bytes.readUInt32LE(0) : undefined;
}

/** The callers keep less of a name or a subject. */
const maxLineBytes = 4096;

/** Returns the first of the texts that is not empty, up to its NUL. */
function readLine(values: Values, ids: readonly number[], codePage: number): string | null {
  for (const id of ids) {
    const [line = ''] = (readText(values, id, codePage, maxLineBytes) ?? '').split('\0', 1);
    if (line !== '') return line;
  }
  return null;
}

function readSubject(message: Values): string | null {
  return readLine(message, [properties.subject, attributes.subject], readCodePage(message));
}

/** Decodes a text, and at most `maxBytes` of it. */
function readText(values: Values, id: number, codePage: number, maxBytes: number): string | undefined {
  const value = values.get(id);
  if (!value) return undefined;
  const bytes = value.bytes.subarray(0, maxBytes);
  if (value.type === types.unicode) return bytes.toString('utf16le').toWellFormed();
  return value.type === types.string8 || value.type === types.binary ? decodeCodePage(bytes, codePage) : undefined;
}

/** How much text, and how much RTF, may still be read. RTF is longer than its text, or the HTML in it. */
interface Budget {
  textBytes: number;
  rtfBytes: number;
}

const rtfFactor = 4;

function toBudget({ bodyBytes }: TnefLimits): Budget {
  return { textBytes: bodyBytes, rtfBytes: rtfFactor * bodyBytes };
}

type Body = Pick<TnefContent, 'body' | 'isHtml'>;

/** Returns the first form of the body that has a text: as HTML, in RTF, or as text. */
function readBody(message: Values, budget: Budget): Body {
  const maxBytes = budget.textBytes;
  const codePage = readCodePage(message);
  // Two bytes of any encoding become at least one byte of UTF-8.
  const read = (id: number, charset = codePage) => readText(message, id, charset, 2 * maxBytes);
  const htmlCodePage =
    message.get(properties.html)?.type === types.binary ? readNumber(message, properties.internetCodePage) : undefined;
  const forms = [
    () => ({ text: read(properties.html, htmlCodePage), isHtml: true }),
    () => readRtfBody(message, budget),
    () => ({ text: read(properties.body), isHtml: false }),
    () => ({ text: read(attributes.body), isHtml: false }),
  ];
  for (const form of forms) {
    const { text = '', isHtml } = form() ?? {};
    const body = cutBytes(text.replaceAll('\0', '').replaceAll('\r\n', '\n'), maxBytes);
    if (body.trim() === '') continue;
    budget.textBytes -= Buffer.byteLength(body);
    return { body, isHtml: isHtml ?? false };
  }
  return { body: null, isHtml: false };
}

function readRtfBody(message: Values, budget: Budget): { text: string; isHtml: boolean } | undefined {
  const compressed = message.get(properties.rtf)?.bytes;
  const rtf = compressed && decompressRtf(compressed, budget.rtfBytes);
  if (!rtf) return undefined;
  budget.rtfBytes -= rtf.length;
  return readRtf(rtf, budget.textBytes);
}

const none = Buffer.alloc(0);
/** How deep messages within the message are read. */
const maxDepth = 2;
const interfaceIdBytes = 16;
/** The values with the name of a file, the most exact first. */
const nameIds = [properties.attachLongName, properties.attachName, attributes.attachTitle, properties.displayName];

/** Returns an embedded object, such as a message, without the id of its interface. */
function readObject(attachment: Values): Buffer | undefined {
  const value = attachment.get(properties.attachData);
  return value?.type === types.object ? value.bytes.subarray(interfaceIdBytes) : undefined;
}

/** The files of a message, and of the messages within it. */
class FileList {
  readonly files: TnefFile[] = [];
  readonly #maxFiles: number;
  /** For all messages within the message together. */
  readonly #budget: Budget;
  #messages = 0;

  constructor(limits: TnefLimits) {
    this.#maxFiles = limits.files;
    this.#budget = toBudget(limits);
  }

  addAll(attachments: readonly Values[], codePage: number, depth: number): void {
    for (const attachment of attachments) {
      const object = readObject(attachment);
      const isMessage = object !== undefined && isTnef(object);
      const filesBefore = this.files.length;
      if (isMessage && depth < maxDepth) this.#addMessage(object, depth + 1);
      // A contact has neither text nor files.
      if (this.files.length > filesBefore) continue;
      const data = attachment.get(attributes.attachData) ?? attachment.get(properties.attachData);
      const mimeType = readLine(attachment, [properties.attachMimeType], codePage);
      this.#add({
        name: readLine(attachment, nameIds, codePage),
        bytes: object ?? data?.bytes ?? none,
        mimeType: isMessage ? 'application/ms-tnef' : mimeType,
        contentId: readLine(attachment, [properties.attachContentId], codePage),
      });
    }
  }

  #addMessage(source: Buffer, depth: number): void {
    const { message, attachments } = scanMessage(source, this.#maxFiles);
    const { body, isHtml } = readBody(message, this.#budget);
    if (body !== null) {
      this.#messages += 1;
      const name = `message-${this.#messages}.${isHtml ? 'html' : 'txt'}`;
      // A byte order mark names the encoding, also where HTML declares another one.
      const bytes = Buffer.from(`\ufeff${body}`);
      this.#add({ name, bytes, mimeType: isHtml ? 'text/html' : 'text/plain', contentId: null });
    }
    this.addAll(attachments, readCodePage(message), depth);
  }

  #add(file: TnefFile): void {
    if (this.files.length < this.#maxFiles) this.files.push(file);
  }
}
