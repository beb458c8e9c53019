import type { MailFile } from './mail-file.ts';

/** A mail in the order of sending, with the mails before it that it answers, as indexes in that order. */
export interface OrderedMail {
  file: MailFile;
  after: readonly number[];
}

/** Orders mails so that each comes after those that it answers. Time is linear in the ids that they name. */
export function orderMails(files: readonly MailFile[]): OrderedMail[] {
  const indexOf = new Map<string, number>();
  for (const [index, { messageId }] of files.entries()) {
    if (messageId !== undefined && !indexOf.has(messageId)) indexOf.set(messageId, index);
  }
  const answered = files.map(({ answers }) => answers.flatMap((id) => indexOf.get(id) ?? []));
  const positions = new Map<number, number>();
  const ordered: OrderedMail[] = [];
  const place = (index: number) => {
    const file = files[index];
    if (!file || positions.has(index)) return;
    const after = (answered[index] ?? []).flatMap((other) => positions.get(other) ?? []);
    positions.set(index, ordered.length);
    ordered.push({ file, after: [...new Set(after)] });
  };
  const seen = new Set<number>();
  for (const start of files.keys()) {
    const stack = [start];
    for (let index = stack.at(-1); index !== undefined; index = stack.at(-1)) {
      const open = seen.has(index) ? [] : (answered[index] ?? []).filter((other) => !seen.has(other));
      seen.add(index);
      // Mails that answer each other are placed as they are found.
      if (open.length > 0) stack.push(...open);
      else place(stack.pop() ?? index);
    }
  }
  return ordered;
}
