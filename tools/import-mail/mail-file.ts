import { open, readFile } from 'node:fs/promises';
import { messageIds, ownMessageId } from '../../services/tickets/src/inbound-mail/message-ids.ts';

/** The facts about a mail that are known before it is sent. */
export interface MailFile {
  path: string;
  messageId: string | undefined;
  /** The ids of the messages to which it replies, or which it reports. */
  answers: readonly string[];
}

/** How many bytes of a file are read to find its headers. */
const headBytes = 64 * 1024;

/** Reads the headers by which mails depend on each other. A file that has none is returned without them. */
export async function readMailFile(path: string): Promise<MailFile> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    const text = buffer.toString('latin1', 0, bytesRead);
    const head = text.slice(0, /\r?\n\r?\n/.exec(text)?.index ?? text.length);
    const messageId = ownMessageId(readHeader(head, 'message-id')) ?? undefined;
    const answers = ['references', 'in-reply-to'].flatMap((name) => messageIds(readHeader(head, name)));
    return { path, messageId, answers: [...answers, ...reportedIds(head, text)] };
  } finally {
    await file.close();
  }
}

/** A report of a mail server names the mail that it is about in one of its parts only. */
function reportedIds(head: string, text: string): string[] {
  if (!/^content-type[ \t]*:\s*multipart\/report/im.test(head)) return [];
  return messageIds((text.match(/^message-id[ \t]*:(?:[^\n]|\n[ \t])*/gim) ?? []).join(' '));
}

function readHeader(head: string, name: string): string {
  return new RegExp(`^${name}[ \\t]*:((?:[^\\n]|\\n[ \\t])*)`, 'im').exec(head)?.[1] ?? '';
}

/** The bytes of a mail, without the line that begins a mail in files of type mbox. */
export async function readMail(path: string): Promise<Uint8Array> {
  const bytes = await readFile(path);
  if (bytes.toString('latin1', 0, 5) !== 'From ') return bytes;
  const end = bytes.indexOf(0x0a);
  return end === -1 ? bytes.subarray(bytes.length) : bytes.subarray(end + 1);
}
