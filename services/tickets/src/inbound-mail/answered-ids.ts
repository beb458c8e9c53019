import type { Attachment, Email } from 'postal-mime';
import { messageIds } from './message-ids.ts';

const reportedTypes = ['message/rfc822', 'text/rfc822-headers', 'message/rfc822-headers'];
/** How many bytes of a reported mail are read to find its headers. */
const headBytes = 64 * 1024;
/** More than a thread needs; each is looked up. */
const maxIds = 200;

/**
 * The ids of the messages that a mail replies to, the nearest first: those of `In-Reply-To`, which names one message,
 * of `References`, which names the whole thread with the nearest last, and of the mail that a report of a mail server
 * is about.
 */
export function answeredIds(email: Email): string[] {
  const { inReplyTo = '', references = '' } = email;
  const given = [inReplyTo, references].flatMap((value) => messageIds(value).reverse());
  return [...new Set([...given, ...reportedIds(email)])].slice(0, maxIds);
}

/** The ids of the mails that a report is about. Many servers name them nowhere else in a report of a failed delivery. */
function reportedIds({ headers, attachments }: Email): string[] {
  const type = headers.find(({ key }) => key === 'content-type')?.value ?? '';
  if (!/^multipart\/report\b/i.test(type)) return [];
  return attachments.filter(({ mimeType }) => reportedTypes.includes(mimeType)).flatMap(idsOfHead);
}

function idsOfHead({ content }: Attachment): string[] {
  const text =
    typeof content === 'string' ? content : Buffer.from(new Uint8Array(content)).toString('latin1', 0, headBytes);
  const head = text.slice(0, /\n\r?\n/.exec(text)?.index ?? headBytes);
  return messageIds(/^message-id[ \t]*:((?:[^\n]|\n[ \t])*)/im.exec(head)?.[1] ?? '');
}
