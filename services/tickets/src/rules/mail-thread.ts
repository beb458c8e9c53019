/** The `Message-ID` of a mail, and its `References`, oldest first, as far as the next mail repeats them. */
export interface MailThread {
  messageId: string;
  references: readonly string[];
}

/** How many earlier messages a mail refers to, and with how many characters. */
export const maxReferences = 20;
const maxReferenceChars = 2_000;

/**
 * Selects the ids that a mail refers to among those of its thread, oldest first: the newest ones, and the first one if it
 * is not among them. An id that would not be valid in a header is left out.
 *
 * Source: RFC 5322, section 3.6.4.
 */
export function referencesAmong(messageIds: readonly string[]): string[] {
  const [first, ...others] = [...new Set(messageIds)].filter(isValidReference);
  if (first === undefined) return [];
  const newest: string[] = [];
  let chars = first.length;
  for (const id of others.reverse()) {
    chars += id.length;
    if (newest.length === maxReferences - 1 || chars > maxReferenceChars) break;
    newest.unshift(id);
  }
  return [first, ...newest];
}

/** The `References` of a mail that answers another one. */
export function referencesTo({ messageId, references }: MailThread): string[] {
  return referencesAmong([...references, messageId]);
}

/** The thread of a mail with these `References`; null if its id would not be valid in a header. */
export function mailThread(messageId: string | null, references: readonly string[]): MailThread | null {
  return messageId !== null && isValidReference(messageId)
    ? { messageId, references: referencesAmong(references) }
    : null;
}

function isValidReference(id: string): boolean {
  return id.length <= maxReferenceChars / 2 && /^<[!-;=?-~]+>$/.test(id);
}
