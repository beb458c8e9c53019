import { domainToASCII } from 'node:url';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { isEmailAddress } from '../../rules/addresses.ts';

/** A message that is sent, or was sent, as a mail. Units: times in Unix seconds. */
export interface OutgoingMail {
  /** The id of the message. */
  id: number;
  ticketId: number;
  /** With its angle brackets. It is stored with the message and never changes. */
  messageId: string;
  /** The `Message-ID`s of the earlier mails of the ticket, oldest first. */
  references: readonly string[];
  subchannelId: number | null;
  /** Null if no mailbox had an address when the mail was queued. */
  from: string | null;
  fromName: string | null;
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
  subject: string;
  text: string;
  /** The sanitised HTML; null for a message that is only text. */
  html: string | null;
  attachments: readonly AttachmentState[];
  queuedAt: number;
  /** Whether only programs had a part in it. */
  isAutomatic: boolean;
  /** How many attempts have ended. */
  attempts: number;
  /** The recipients that need no further attempt, because a mail server has accepted the mail for them. */
  reached: readonly string[];
}

/** How many earlier messages a mail refers to. */
export const maxReferences = 20;
const maxReferenceLength = 900;

/** Makes a `Message-ID` of a unique text. It has the domain of its sender, because receivers distrust others. */
export function newMessageId(unique: string, from: string | null): string {
  const host = from === null ? undefined : normalAddress(from)?.split('@').at(-1);
  return `<${unique}@${host ?? 'ticketing.invalid'}>`;
}

/**
 * Selects the ids that a mail refers to among the `Message-ID`s of its ticket, oldest first: the first one and the
 * newest ones. An id that would not be valid in a header is left out.
 */
export function referencesAmong(messageIds: readonly string[]): string[] {
  const valid = messageIds.filter((id) => id.length <= maxReferenceLength && /^<[!-;=?-~]+>$/.test(id));
  return valid.length <= maxReferences ? valid : [...valid.slice(0, 1), ...valid.slice(1 - maxReferences)];
}

/**
 * The spelling of an address for mail servers: the domain in ASCII and lower case. Undefined for a text that is no
 * e-mail address.
 */
export function normalAddress(address: string): string | undefined {
  if (!isEmailAddress(address) || /\p{Cc}/u.test(address)) return undefined;
  const at = address.lastIndexOf('@');
  const host = domainToASCII(address.slice(at + 1));
  return host === '' ? undefined : `${address.slice(0, at)}@${host}`;
}

/** The recipients that a mail has not reached yet, each once, and the texts among them that are no e-mail addresses. */
export function recipientsLeft({ to, cc, bcc, reached }: OutgoingMail): { addresses: string[]; invalid: string[] } {
  const all = [...new Set([...to, ...cc, ...bcc])];
  const addresses = new Set(all.flatMap((address) => normalAddress(address) ?? []));
  return {
    addresses: [...addresses].filter((address) => !reached.includes(address)),
    invalid: all.filter((address) => normalAddress(address) === undefined),
  };
}
