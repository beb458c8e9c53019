import { open, readFile } from 'node:fs/promises';

/** What is known of a mail before it is sent. */
export interface MailFile {
  path: string;
  messageId: string | undefined;
  /** The messages that it answers. */
  answers: readonly string[];
}

/** As much of a file as is read to find its headers. */
const headBytes = 64 * 1024;

/** Reads the headers by which mails depend on each other. A file that has none is returned without them. */
export async function readMailFile(path: string): Promise<MailFile> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    const text = buffer.toString('latin1', 0, bytesRead);
    const head = text.slice(0, /\r?\n\r?\n/.exec(text)?.index ?? text.length);
    const [messageId] = idsOf(head, 'message-id');
    return { path, messageId, answers: [...idsOf(head, 'references'), ...idsOf(head, 'in-reply-to')] };
  } finally {
    await file.close();
  }
}

function idsOf(head: string, name: string): string[] {
  const value = new RegExp(`^${name}[ \\t]*:((?:[^\\n]|\\n[ \\t])*)`, 'im').exec(head)?.[1] ?? '';
  return value.match(/<[^<>\s]+>/g) ?? [];
}

/** The bytes of a mail, without the line that begins a mail in files of type mbox. */
export async function readMail(path: string): Promise<Uint8Array> {
  const bytes = await readFile(path);
  if (bytes.toString('latin1', 0, 5) !== 'From ') return bytes;
  const end = bytes.indexOf(0x0a);
  return end === -1 ? bytes.subarray(bytes.length) : bytes.subarray(end + 1);
}
