import { foldedAddress } from '../../rules/addresses.ts';
import type { AddressedTicket } from '../../ticket/rules/reply-recipients.ts';

/**
 * Whether an address takes part in the conversation of a ticket, as far as its fields say: it is in its first or its
 * latest message, or that of its customer. Case is ignored.
 */
export function isParticipant(ticket: AddressedTicket, address: string | null): boolean {
  const folded = foldedAddress(address ?? '');
  if (folded === '') return false;
  const messages = [ticket, ...(ticket.latestMessage ? [ticket.latestMessage] : [])];
  const addresses = messages.flatMap(({ from, to, cc, bcc }) => [from, ...to, ...cc, ...bcc]);
  return [...addresses, ticket.customerEmail].some((one) => foldedAddress(one ?? '') === folded);
}
