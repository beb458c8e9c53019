import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { foldedAddress } from '../../rules/addresses.ts';
import type { Subchannels } from './subchannels.ts';

/**
 * The enabled mailbox of the first of some addresses that belongs to one. Case is ignored, and so is the suffix after a
 * `+` in the local part of an address, unless a mailbox has exactly that address.
 */
export function mailboxOf(addresses: readonly string[], subchannels: Subchannels): number | undefined {
  const ids = new Map<string, number>();
  for (const [id, { enabled, channel, address = '' }] of subchannels ?? []) {
    const folded = foldedAddress(address);
    if (enabled && channel === Channel.EMAIL && folded !== '' && !ids.has(folded)) ids.set(folded, id);
  }
  for (const address of addresses) {
    const folded = foldedAddress(address);
    const id = ids.get(folded) ?? ids.get(withoutTag(folded));
    if (id !== undefined) return id;
  }
  return undefined;
}

/** Returns whether an address is one of ours: that of a mailbox, also of a disabled one, or the sender of the installation. */
export function ownAddresses({
  subchannels,
  mailFrom,
}: {
  subchannels: Subchannels;
  mailFrom: string | null;
}): (address: string) => boolean {
  const mailboxes = [...(subchannels?.values() ?? [])].filter(({ channel }) => channel === Channel.EMAIL);
  const own = new Set([mailFrom, ...mailboxes.map(({ address }) => address)].map((one) => foldedAddress(one ?? '')));
  own.delete('');
  return (address) => own.has(foldedAddress(address)) || own.has(withoutTag(foldedAddress(address)));
}

function withoutTag(address: string): string {
  const at = address.lastIndexOf('@');
  const plus = address.indexOf('+');
  return plus > 0 && plus < at ? address.slice(0, plus) + address.slice(at) : address;
}
