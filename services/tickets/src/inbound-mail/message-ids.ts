import { firstValue, type MimePart } from './mime.ts';

/** The longest `Message-ID` that is kept, with its angle brackets. A longer one counts as none. */
const maxMessageIdChars = 998;
/** How many ids of a header are read: the last ones of `References` name the nearest messages. */
const maxHeaderIds = 100;

/**
 * The ids in the value of a header such as `References`, in its order, each with its angle brackets. Some programs write
 * them without brackets, or with those of HTML. Of a very long list the last ones are returned. Time is linear in the
 * input.
 */
export function messageIds(value: string): string[] {
  const text = value.replace(/&lt;/gi, '<').replace(/&gt;/gi, '>');
  const ids = text.match(/<[^<>\s]+>/g) ?? withoutBrackets(text);
  return ids.filter(isMessageId).slice(-maxHeaderIds);
}

/** The words of a text without brackets that have the form of an id. */
function withoutBrackets(text: string): string[] {
  const words = text.split(/[\s,;]+/).filter((word) => /^[^@<>"()]+@[^@<>"()]+$/.test(word));
  return words.map((word) => `<${word}>`);
}

/** The id of a message: that in its `Message-ID`; some programs leave the angle brackets out. */
export function ownMessageId(value: string): string | null {
  const id = messageIds(value)[0] ?? `<${value.trim()}>`;
  return isMessageId(id) ? id : null;
}

function isMessageId(id: string): boolean {
  return id.length <= maxMessageIdChars && /^<[!-;=?-~\u00a1-\uffff]+>$/.test(id);
}

const reportedTypes = ['message/rfc822', 'text/rfc822-headers', 'message/rfc822-headers'];
/** How many bytes of a reported mail are read to find its headers. */
const headBytes = 64 * 1024;
/** More than a thread needs; each is looked up. */
const maxAnsweredIds = 200;

/**
 * The ids of the messages that a mail replies to, the nearest first: those of `In-Reply-To`, which names one message,
 * of `References`, which names the whole thread with the nearest last, and of the mail that a report of a mail server
 * is about, with those that were read from its text.
 */
export function answeredIds(mail: MimePart, reported: readonly string[] = []): string[] {
  return [...new Set([...namedIds(mail), ...reportedIds(mail), ...reported])].slice(0, maxAnsweredIds);
}

/** The ids in `In-Reply-To` and `References`, the nearest first. */
export function namedIds(mail: MimePart): string[] {
  return ['in-reply-to', 'references'].flatMap((name) => messageIds(firstValue(mail, name)).reverse());
}

/** The ids of the thread that a mail continues, oldest first: `References`, which few programs leave out. */
export function threadIds(mail: MimePart): string[] {
  const ids = messageIds(firstValue(mail, 'references'));
  return ids.length > 0 ? ids : messageIds(firstValue(mail, 'in-reply-to')).slice(0, 1);
}

/** The ids of the mails that a report is about. Many servers name them nowhere else in a report of a failed delivery. */
function reportedIds({ type, parts }: MimePart): string[] {
  if (type !== 'multipart/report') return [];
  return parts.filter((part) => reportedTypes.includes(part.type)).flatMap(readMessageId);
}

function readMessageId(part: MimePart): string[] {
  const text = part.content().toString('latin1', 0, headBytes);
  const head = text.slice(0, /\n\r?\n/.exec(text)?.index ?? headBytes);
  return messageIds(messageIdIn(head));
}

/** The value of the first `Message-ID` in the headers of a mail, as they are written; empty if there is none. */
export function messageIdIn(head: string): string {
  return /^message-id[ \t]*:((?:[^\n]|\n[ \t])*)/im.exec(head)?.[1] ?? '';
}
