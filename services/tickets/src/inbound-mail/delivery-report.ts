import { cutChars } from '@ticketing/runtime/cut-text.ts';
import {
  type DeliveryReport,
  findCode,
  maxErrorChars,
  type ReportedRecipient,
} from '../message/rules/delivery-report.ts';
import { comparedAddress, normalAddress, oneLine } from '../rules/mail-headers.ts';
import { plainBody } from '../text/rules/body-text.ts';
import { readMailboxes } from './addresses.ts';
import { mailLimits as limits } from './mail.ts';
import { decodeWords } from './mail-header.ts';
import { messageIdIn, namedIds, ownMessageId } from './message-ids.ts';
import { firstValue, leaves, type MimePart, mailRoom, trySplitMail } from './mime.ts';

/** How many bytes of a part are read. */
const maxBytes = 256 * 1024;
const maxWrapped = 3;
const maxHeaderChars = 2_000;

/**
 * Reads the report of a mail server that a mail was not delivered, or not yet: one of the format of RFC 3464, also within
 * groups of parts, or within a message that another server has wrapped it into; else the text of a mail server. Returns
 * null for every other mail, and for a report of a delivery.
 *
 * Source: docs/reference/api.md, Delivery reports.
 */
export async function readDeliveryReport(mail: MimePart): Promise<DeliveryReport | null> {
  const report = findReport(mail);
  // People forward reports too.
  if (report && report !== mail && !isOfServer(mail) && !isAutomatic(mail)) return null;
  if (report) return readReport(mail, report);
  if (!isOfServer(mail)) return null;
  const wrapped = leaves(mail).filter(({ type }) => type === 'message/rfc822');
  const room = mailRoom();
  for (const part of wrapped.slice(0, maxWrapped)) {
    const inner = await trySplitMail(part.content(), room);
    const innerReport = inner && findReport(inner);
    const read = inner && (innerReport ? readReport(inner, innerReport) : isOfServer(inner) ? readText(inner) : null);
    if (read) return read;
  }
  return readText(mail);
}

function findReport(part: MimePart): MimePart | undefined {
  if (part.type === 'multipart/report') return part;
  for (const one of part.parts) {
    const found = findReport(one);
    if (found) return found;
  }
  return undefined;
}

const serverNames =
  /^(?:mailer-?daemon|mail-?daemon|postmaster|mdaemon|mail delivery (?:sub)?system|mail administrator|system administrator)$/i;

/** Whether a mail server says that it has written a mail. */
function isOfServer(mail: MimePart): boolean {
  if (firstValue(mail, 'x-failed-recipients') !== '' || hasHeader(mail, 'x-ms-exchange-message-is-ndr')) return true;
  const [author] = readMailboxes(firstValue(mail, 'from').slice(0, maxHeaderChars));
  if (!author) return false;
  const local = author.address.includes('@') ? author.address.slice(0, author.address.lastIndexOf('@')) : '';
  return [local, author.address, author.name].some((name) => serverNames.test(name.trim()));
}

function hasHeader({ headers }: MimePart, name: string): boolean {
  return headers.some(({ key }) => key === name);
}

const statusTypes = ['message/delivery-status', 'message/global-delivery-status'];

/** Reads a report in the format of RFC 3464. Reports of other kinds say so in `report-type`. */
function readReport(mail: MimePart, report: MimePart): DeliveryReport | null {
  const isOfDelivery = /(?:^|-)delivery-status$/i.test(report.parameters['report-type'] ?? 'delivery-status');
  const parts = leaves(report);
  const statuses = parts.filter((part) => statusTypes.includes(part.type));
  if (!isOfDelivery || (statuses.length === 0 && !isOfServer(mail))) return null;
  const blocks = statuses.flatMap(readBlocks);
  const addressed = blocks.map((block) => ({ block, addresses: reportedAddresses(block) }));
  const ofRecipients = addressed.filter(({ addresses }) => addresses.length > 0);
  const byText = ofRecipients.length > 0 ? undefined : readText(mail);
  const byStatus = ofRecipients.flatMap(({ block, addresses }) => readRecipient(block, addresses) ?? []);
  const recipients = byText?.recipients ?? withTexts(byStatus.slice(0, limits.recipients), mail);
  if (recipients.length === 0) return null;
  const ids = [
    ...parts.flatMap(originalIds),
    ...['message-id', 'x-original-message-id', 'original-message-id'].flatMap((name) =>
      blocks.flatMap((block) => toIds(block.get(name) ?? '')),
    ),
  ];
  return {
    messageIds: ids.length > 0 ? limited(ids) : (byText?.messageIds ?? limited(namedIds(mail))),
    recipients,
  };
}

/** The fields of a block of a status, by their names in lower case. */
type Block = ReadonlyMap<string, string>;

function readBlocks(part: MimePart): Block[] {
  const text = readContent(part);
  return text.split(/\n[ \t]*(?:\n[ \t]*)+/).map((block) => {
    const lines = block.replace(/\n[ \t]+/g, ' ').split('\n');
    const fields = lines.map((line) => [line.split(':', 1).join('').trim().toLowerCase(), afterColon(line)] as const);
    return new Map(fields);
  });
}

function afterColon(line: string): string {
  const colon = line.indexOf(':');
  return colon === -1 ? '' : line.slice(colon + 1).trim();
}

const readContent = (part: MimePart): string =>
  part.content().toString('utf8', 0, maxBytes).replace(/\r\n?/g, '\n').replaceAll('\0', '');

/** Reads the block of a recipient; undefined if it says that the mail was delivered, or nothing. */
function readRecipient(block: Block, addresses: readonly string[]): ReportedRecipient | undefined {
  const status = block.get('status') ?? '';
  const action = /^[a-z]+/.exec(block.get('action')?.toLowerCase() ?? '')?.[0] ?? '';
  const effect = readAction(action) ?? ({ 4: 'delayed', 5: 'failed' } as const)[status.charAt(0)];
  if (effect === undefined || effect === 'delivered') return undefined;
  const diagnostic = withoutType(block.get('diagnostic-code') ?? '');
  const comment = status.replace(/^[\d.\s]*/, '').replace(/^\((.*)\)$/s, '$1');
  return {
    addresses,
    isFinal: effect === 'failed',
    code: findCode(status.slice(0, 20), diagnostic),
    text: toText(diagnostic) || toText(comment),
  };
}

function readAction(action: string): 'failed' | 'delayed' | 'delivered' | undefined {
  if (action === 'failed' || action === 'delayed') return action;
  return ['delivered', 'relayed', 'expanded'].includes(action) ? 'delivered' : undefined;
}

/** The addresses that a block names, decoded if they are encoded. */
function reportedAddresses(block: Block): string[] {
  const named = ['original-recipient', 'final-recipient', 'x-actual-recipient'].map((name) => block.get(name) ?? '');
  const written = named.map((value) => withoutType(value).replace(/^<|>$/g, '').trim());
  return toAddresses(written.flatMap((address) => [address, decodeAddress(address)]));
}

/** Picks the addresses among some texts, each once, in the spelling in which they are compared. */
function toAddresses(texts: readonly string[]): string[] {
  const short = unique(texts).filter((text) => text.length <= limits.nameChars && text.isWellFormed());
  const unquoted = short.map((text) => text.replace(/^"([^"\\]+)"@/, '$1@'));
  return unique(unquoted.filter((text) => normalAddress(text) !== undefined).map(comparedAddress));
}

/** Decodes the forms of RFC 3461, section 4, and of RFC 6533, section 3. */
function decodeAddress(address: string): string {
  const decode = (hex: string) => String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff));
  return address
    .replace(/\\x\{([\da-f]{2,6})\}/gi, (_, hex: string) => decode(hex))
    .replace(/\+([\dA-F]{2})/g, (_, hex: string) => decode(hex));
}

/** A value without its type, as in `rfc822; kim@example.com`. */
function withoutType(value: string): string {
  return value.replace(/^[a-z\d-]{1,30}[ \t]*;/i, '').trim();
}

/** Adds the words of the text for people to recipients without a diagnostic. */
function withTexts(recipients: readonly ReportedRecipient[], mail: MimePart): readonly ReportedRecipient[] {
  if (recipients.every(({ text }) => text !== '')) return recipients;
  const about = readNotice(splitNotice(readPlain(mail)).notice);
  return recipients.map((recipient) => {
    const texts = recipient.addresses.map((address) => toText(about(address)));
    return recipient.text === '' ? { ...recipient, text: texts.find((text) => text !== '') ?? '' } : recipient;
  });
}

const headerTypes = [
  ...['message/rfc822', 'text/rfc822-headers', 'message/rfc822-headers', 'text/rfc822'],
  ...['message/global', 'message/global-headers', 'message/partial'],
];

/** The id of the mail that a part contains. */
function originalIds(part: MimePart): string[] {
  if (!headerTypes.includes(part.type)) return [];
  const text = readContent(part).trimStart();
  return toIds(messageIdIn(text.slice(0, /\n[ \t]*\n/.exec(text)?.index ?? maxBytes)));
}

function toIds(value: string): string[] {
  const id = value.trim() === '' ? null : ownMessageId(value.replace(/\n/g, ''));
  return id === null ? [] : [id];
}

/** The words of mail servers for a failed delivery, in five languages. */
const failurePattern = new RegExp(
  [
    /undeliver|(?:delivery|sending|transmission) (?:has |status notification )?\(?fail|returned (?:mail|to sender)|bounced/,
    /(?:not|n't|unable to|cannot|never) (?:be )?(?:deliver|sen[dt]|reach|relay)|(?:permanent|fatal) (?:fatal )?errors?|failed address/,
    /following (?:address|recipient)\S* (?:have |has |had |was |were )?(?:permanent|fail|rejected|not)/,
    /(?:nicht|konnte|kann|k.nnen|konnten)[^.]{0,120}(?:zugestellt|zustell|.bermittel)|unzustellbar|zustellung[^.]{0,60}(?:fehl|nicht)/,
    /n'(?:a|ont) pas (?:pu )?(?:.t. |.tre )?(?:remis|livr|distribu|d.livr)|(?:impossible|.chec) (?:de|de la|d')[^.]{0,40}(?:remettre|remise|distribu|livr)/,
    /no (?:se )?(?:ha |han )?(?:pudo|podido|pudieron|puede)[^.]{0,60}entreg|no (?:ha |han )?(?:sido |fue )?entregad|error al entregar/,
    /(?:non|impossibile)[^.]{0,60}(?:consegna|recapita)|mancat[oa] (?:consegna|recapito)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);
const delayPattern =
  /\bdelay|still (?:trying|being|in the queue|undelivered)|(?:will|we'll|shall) (?:continue|keep|be (?:re)?tr|retry|try|still)|past \d+ hours?|noch nicht zugestellt|verz.ger|weitere versuche|retard.e?|sera retent|retrasad|reintent|ritardo|ritentat/i;
const endPattern =
  /permanent|gave up|giving up|given up|no further|too long|expired|timeout exceeded|final|aufgegeben|endg.ltig/i;

/** Finds where the mail begins that a text contains: by the words of mail programs, or by its first header. */
const originalPattern =
  /^[ \t>*=-]*(?:this is a copy of|below this line is a copy|(?:the )?(?:header|headers|body|text|copy) of (?:the|your) (?:original|message)|(?:original|returned|unsent|undelivered|failed) (?:message|mail)(?: headers?)?(?: follows| is below)?[ \t.:*=-]*$|message (?:header )?follows|(?:kopie|kopfzeilen|header) der|urspr.ngliche nachricht|en-t.tes|message (?:d'origine|original)|mensaje original|encabezados|intestazioni|messaggio originale)|^[ \t>]*(?:return-path|received|message-id|mime-version|x-[a-z-]{1,40}):/im;

interface Notice {
  notice: string;
  original: string;
}

/** The words of the server, and the mail that it has not delivered. */
function splitNotice(text: string): Notice {
  const at = originalPattern.exec(text)?.index ?? text.length;
  return { notice: text.slice(0, at), original: text.slice(at) };
}

function readPlain(mail: MimePart): string {
  const texts = leaves(mail).filter(
    ({ type, disposition }) => type.startsWith('text/') && disposition !== 'attachment',
  );
  const plain = texts.find(({ type }) => type === 'text/plain');
  const [first] = texts;
  if (plain) return readContent(plain);
  return first?.type === 'text/html' ? plainBody(readContent(first)) : '';
}

const addressPattern = /[^\s<>"'(),:;[\]\\]{1,64}@[a-z\d-]+(?:\.[a-z\d-]+)+/gi;
const maxTextRecipients = 100;
const maxNamed = 1_000;
/** A report is about one mail. */
const maxIds = 10;

/** Reads the text of a mail server that does not write reports in the format of RFC 3464. */
function readText(mail: MimePart): DeliveryReport | null {
  const { notice, original } = splitNotice(readPlain(mail));
  const said = `${decodeWords(firstValue(mail, 'subject').slice(0, maxHeaderChars))}\n${notice}`.replaceAll('’', "'");
  const isDelayed = delayPattern.test(said) && !endPattern.test(said);
  if (!isDelayed && !failurePattern.test(said)) return null;
  const listed = firstValue(mail, 'x-failed-recipients').slice(0, maxBytes).match(addressPattern) ?? [];
  const addresses = unique([...listed, ...(notice.match(addressPattern) ?? [])]).slice(0, maxTextRecipients);
  const ids = [...leaves(mail).flatMap(originalIds), ...toIds(messageIdIn(original.replace(/^>[ \t]?/gm, '')))];
  // People write from the addresses of mail servers too.
  if (addresses.length === 0 || (ids.length === 0 && !isAutomatic(mail))) return null;
  const about = readNotice(notice);
  const anyCode = findCode(notice);
  const recipients = addresses.map((address) => {
    const text = about(address);
    return {
      addresses: toAddresses([address]),
      isFinal: !isDelayed,
      code: findCode(text) ?? anyCode,
      text: toText(text),
    };
  });
  return { messageIds: limited(ids.length > 0 ? ids : namedIds(mail)), recipients };
}

/** Whether a program says that it has written a mail. */
function isAutomatic(mail: MimePart): boolean {
  const isReturned = firstValue(mail, 'return-path').trim() === '<>' || hasHeader(mail, 'x-failed-recipients');
  return isReturned || !/^(?:no)?$/i.test(firstValue(mail, 'auto-submitted').trim());
}

const maxSaidChars = 2_000;

/**
 * Reads a notice. Returns a function that finds the part about an address: its paragraph up to the next address, with the
 * following paragraph if it has no code itself.
 */
function readNotice(notice: string): (address: string) => string {
  const named = [...notice.matchAll(addressPattern)].slice(0, maxNamed);
  const firsts = new Map([...named].reverse().map((one) => [comparedAddress(one[0]), one]));
  return (address) => {
    const first = firsts.get(comparedAddress(address));
    return first ? partAbout(notice, first, named) : '';
  };
}

function partAbout(notice: string, first: RegExpExecArray, named: readonly RegExpExecArray[]): string {
  const next = named.find(({ index, 0: one }) => index > first.index && one !== first[0])?.index ?? notice.length;
  const text = notice.slice(first.index, Math.min(next, first.index + maxSaidChars));
  const [own = '', following = ''] = text.split(/\n[ \t]*\n/);
  const start = notice.lastIndexOf('\n', first.index) + 1;
  const line = notice.slice(Math.max(start, first.index - maxSaidChars), first.index) + own;
  return /[45]\d\d|[45]\.\d/.test(line) || following === '' ? line : `${line} ${following}`;
}

function toText(text: string): string {
  return cutChars(oneLine(text).replace(/\s+/g, ' ').trim(), maxErrorChars);
}

const limited = (ids: readonly string[]): string[] => unique(ids).slice(0, maxIds);

const unique = <Value>(values: readonly Value[]): Value[] => [...new Set(values)];
