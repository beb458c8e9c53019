import { cutChars } from '@ticketing/runtime/cut-text.ts';
import parseAddresses from 'nodemailer/lib/addressparser';
import { isEmailAddress, oneLine } from '../rules/mail-headers.ts';
import { mailLimits as limits } from './mail.ts';
import { decodeWords } from './mail-header.ts';

/** An author or recipient of a mail. `address` is an address as a rule, else what stands in its place; each may be empty. */
export interface Mailbox {
  name: string;
  address: string;
}

/** Reads a header with addresses, in the order of the header. Groups count as their members (RFC 5322, section 3.4). */
export function readMailboxes(header: string): Mailbox[] {
  const found = parseAddresses(header, { flatten: true });
  const mailboxes = found.map(({ name, address }) => ({
    name: cleanText(decodeWords(name)),
    address: cleanAddress(address),
  }));
  if (mailboxes.some(({ address }) => address !== '') || !header.includes('=?')) return mailboxes;
  // Some programs encode the whole header, with the address in it.
  const decoded = decodeWords(header);
  return /<[^<>@\s]+@[^<>@\s]+>/.test(decoded) && !decoded.includes('=?') ? readMailboxes(decoded) : mailboxes;
}

/**
 * The author of a mail: the first mailbox that has an address, with the names before it, since a comma within a name is
 * often written without quotes; else what there is. Undefined for headers without a text.
 */
export function readAuthor(headers: readonly string[]): { from: string; fromName: string | null } | undefined {
  const lists: Mailbox[][] = [];
  for (const isAddress of [isEmailAddress, (text: string) => text !== '']) {
    for (const [index, header] of headers.entries()) {
      lists[index] ??= readMailboxes(header);
      const list = lists[index];
      const at = list.findIndex(({ address }) => isAddress(address));
      const author = list[at];
      if (author) return { from: author.address, fromName: nameBefore(list, at) || null };
    }
  }
  const name = lists.flat().find((one) => one.name !== '')?.name;
  return name === undefined ? undefined : { from: name, fromName: name };
}

function nameBefore(list: readonly Mailbox[], at: number): string {
  const first = list.slice(0, at).findLastIndex(({ address }) => address !== '') + 1;
  const names = list.slice(first, at + 1).map(({ name }) => name);
  return cutChars(names.filter((name) => name !== '').join(', '), limits.nameChars);
}

/** The addresses of some headers, each once. */
export function readAddresses(headers: readonly string[]): string[] {
  const addresses = headers.flatMap(readMailboxes).map(({ address }) => address);
  return [...new Set(addresses)].filter((address) => address !== '').slice(0, limits.recipients);
}

function cleanText(text: string): string {
  return cutChars(oneLine(text).replace(/^[<\s]+|[>\s]{1,9}$/g, ''), limits.nameChars);
}

/** An address without what programs write around it, if that makes it one; empty if it is too long. */
function cleanAddress(text: string): string {
  const address = oneLine(text).trim();
  if (address.length > limits.nameChars) return '';
  const bare = address.replace(/^(?:mailto:|['"<\s])+/i, '').replace(/[>'"\s.,;]+$/, '');
  return isEmailAddress(bare) ? bare : address;
}
