import { createHmac, timingSafeEqual } from 'node:crypto';
import { cutChars } from '@ticketing/runtime/cut-text.ts';
import { isEmailAddress, normalAddress } from '../../rules/mail-headers.ts';
import { fillReturnAddress, signedTag } from '../../ticket/rules/subchannels.ts';
import type { ConversationState } from './fields.ts';

/** A message that is sent, or was sent, as a mail. Units: times in Unix seconds. */
export interface OutgoingMail
  extends Pick<
    ConversationState,
    'id' | 'ticketId' | 'subchannelId' | 'fromName' | 'to' | 'cc' | 'bcc' | 'attachments' | 'isAutomatic'
  > {
  /** With its angle brackets. It is stored with the message and never changes. */
  messageId: string;
  /** The `Message-ID`s of the earlier mails of the ticket, oldest first. */
  references: readonly string[];
  /** Null if no mailbox had an address when the mail was queued. */
  from: string | null;
  subject: string;
  text: string;
  /** The sanitised HTML; null for a message that is only text. */
  html: string | null;
  queuedAt: number;
  /** How many attempts have ended. */
  attempts: number;
  /** The recipients that need no further attempt, because a mail server has accepted the mail for them. */
  reached: readonly string[];
}

/** Makes a `Message-ID` of a unique text. It has the domain of its sender, because receivers distrust others. */
export function newMessageId(unique: string, from: string | null): string {
  const host = from === null ? undefined : normalAddress(from)?.split('@').at(-1);
  return `<${unique}@${host ?? 'ticketing.invalid'}>`;
}

/**
 * The recipients that a mail has not reached yet, each once, and the e-mail addresses among them to which no mail can be
 * sent. Numbers and names, which the messages of other channels have, are no recipients.
 */
export function recipientsLeft({ to, cc, bcc, reached }: Pick<OutgoingMail, 'to' | 'cc' | 'bcc' | 'reached'>): {
  addresses: string[];
  invalid: string[];
} {
  const all = [...new Set([...to, ...cc, ...bcc])].filter(isEmailAddress);
  const addresses = new Set(all.flatMap((address) => normalAddress(address) ?? []));
  return {
    addresses: [...addresses].filter((address) => !reached.includes(address)),
    invalid: all.filter((address) => normalAddress(address) === undefined),
  };
}

/** Writes and reads the signed tokens in the subjects of mails, by which a reply finds its ticket. */
export interface TicketTokens {
  /**
   * The subject with the token of a ticket at its end. Tokens that it has already are removed; a text that would become
   * longer than a subject may be is cut.
   */
  mark(subject: string, ticketId: number): string;
  /** The ticket of the last valid token of a subject; undefined if it has none. */
  find(subject: string): number | undefined;
}

/** The header with the token of the ticket in every mail that this system sends, by which it knows its own mails. */
export const ticketTokenHeader = 'X-Ticketing-Ticket';

/** Makes and reads the signed addresses to which mail servers report that a message has failed. */
export interface ReturnAddresses {
  /**
   * The address for a message that is sent from a mailbox, in the form of the setting `returnAddress`; undefined if that
   * is not valid, or too long.
   */
  make(form: string, mailbox: string, conversationId: number): string | undefined;
  /** The message of an address, whatever its form was; undefined if it is not signed. */
  find(address: string): number | undefined;
}

const maxLocalChars = 64;

/**
 * Makes the return addresses of a key. Their signature is as that of `ticketTokens`.
 *
 * Source: docs/reference/api.md, Delivery reports.
 */
export function returnAddresses(key: Buffer): ReturnAddresses {
  const sign = (id: string) => letters(createHmac('sha256', key).update(`message ${id}`).digest());
  return {
    make(form, mailbox, conversationId) {
      const address = fillReturnAddress(form, mailbox, `${conversationId}-${sign(String(conversationId))}`);
      return address.lastIndexOf('@') > maxLocalChars ? undefined : normalAddress(address);
    },
    find(address) {
      const [, id = '', signature = ''] = signedTag.exec(address) ?? [];
      return id !== '' && isSignature(signature, sign(id)) ? Number(id) : undefined;
    },
  };
}

function isSignature(given: string, expected: string): boolean {
  return timingSafeEqual(Buffer.from(given.toLowerCase()), Buffer.from(expected));
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const signatureLength = 8;
const tokenPattern = /\[#(\d{1,10})-([a-z2-7]{8})\]/gi;
const maxTokensChecked = 16;
const maxSubjectLength = 998;

/**
 * Makes the tokens of a key, such as `[#123-k3f9x2ab]`. The signature has 40 bits: guessing it takes 2^39 mails on
 * average for one ticket. It is not case-sensitive, because some mail programs change the case of subjects.
 *
 * Source: docs/reference/api.md, Outgoing mail.
 */
export function ticketTokens(key: Buffer): TicketTokens {
  const sign = (ticketId: string) => letters(createHmac('sha256', key).update(`ticket ${ticketId}`).digest());
  const isValid = (ticketId: string, signature: string) => isSignature(signature, sign(ticketId));
  return {
    mark(subject, ticketId) {
      const token = `[#${ticketId}-${sign(String(ticketId))}]`;
      const text = subject.replace(tokenPattern, '').replace(/ {2,}/g, ' ').trim();
      return `${cutChars(text, maxSubjectLength - token.length - 1).trimEnd()} ${token}`.trim();
    },
    find(subject) {
      const tokens = [...subject.matchAll(tokenPattern)].slice(-maxTokensChecked).reverse();
      const valid = tokens.find(([, ticketId = '', signature = '']) => isValid(ticketId, signature));
      return valid && Number(valid[1]);
    },
  };
}

/** The first bits of a digest, five for each letter. */
function letters(digest: Buffer): string {
  return Array.from({ length: signatureLength }, (_, index) => alphabet[(digest[index] ?? 0) & 31]).join('');
}
