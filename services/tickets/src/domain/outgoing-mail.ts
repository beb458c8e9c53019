import { domainToASCII } from 'node:url';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { isEmailAddress } from './addresses.ts';

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
  fromName: string | null;
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
  subject: string;
  text: string;
  /** The sanitised HTML; null for a message that is only text. */
  html: string | null;
  attachments: readonly MailAttachment[];
  queuedAt: number;
  /** How many attempts have ended. */
  attempts: number;
  /** The recipients that need no further attempt, because a mail server has accepted the mail for them. */
  reached: readonly string[];
}

/** A file of a mail. */
export interface MailAttachment {
  id: string;
  name: string;
  contentType: string;
  inline: boolean;
}

/** The mailbox that sends a mail. */
export interface MailSender {
  address: string;
  name: string | null;
}

const maxReferences = 20;
const maxReferenceLength = 900;

/**
 * Makes the `Message-ID` of a mail. It has the domain of its sender, because receivers distrust others.
 *
 * Source: docs/reference/api.md, Outgoing mail.
 */
export function newMessageId(
  { ticketId, id }: Pick<OutgoingMail, 'ticketId' | 'id'>,
  sender: MailSender | undefined,
  { randomBytes }: Pick<Runtime, 'randomBytes'>,
): string {
  const host = sender && normalAddress(sender.address)?.split('@').at(-1);
  return `<${ticketId}.${id}.${randomBytes(12).toString('hex')}@${host ?? 'ticketing.invalid'}>`;
}

/**
 * What a mail refers to, of the `Message-ID`s of its ticket, oldest first: the first mail and the newest ones. An id that
 * would not be valid in a header is left out.
 */
export function referencesAmong(messageIds: readonly string[]): string[] {
  const valid = messageIds.filter((id) => id.length <= maxReferenceLength && /^<[!-;=?-~]+>$/.test(id));
  return valid.length <= maxReferences ? valid : [...valid.slice(0, 1), ...valid.slice(1 - maxReferences)];
}

/**
 * The spelling of an address in which mail servers are given it: the domain in ASCII and lower case. Undefined for a text
 * that is no e-mail address.
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
