import { BlockList, isIP, SocketAddress } from 'node:net';

/** A range of IP addresses: those that begin with the first `prefix` bits of `address`. */
export interface AddressRange {
  address: string;
  prefix: number;
  family: 'ipv4' | 'ipv6';
}

const bits = { ipv4: 32, ipv6: 128 } as const;

/**
 * Reads a range in CIDR notation, or a single address; undefined if it is neither.
 *
 * An IPv4-mapped IPv6 address is no range here: such addresses are compared as the IPv4 addresses that they contain.
 */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [, address = '', prefixText] = /^([\d.]+|[\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const plain = unwrapped(address);
  if (plain === undefined || (address.includes(':') && plain.family === 'ipv4')) return undefined;
  const prefix = prefixText === undefined ? bits[plain.family] : Number(prefixText);
  return prefix > bits[plain.family] ? undefined : { ...plain, prefix };
}

/** Returns whether an address is in one of the ranges. A text that is not an address is in none. */
export function addressMatcher(ranges: readonly AddressRange[]): (address: string) => boolean {
  // One list per family: a single one compares IPv4 addresses with IPv6 ranges too, and ::/3 would contain all of them.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const { address, prefix, family } of ranges) lists[family].addSubnet(address, prefix, family);
  return (text) => {
    const plain = unwrapped(text);
    return plain !== undefined && lists[plain.family].check(plain.address, plain.family);
  };
}

/** Returns an address without its zone, and an IPv4-mapped one as the IPv4 address that it contains. */
function unwrapped(text: string): Pick<AddressRange, 'address' | 'family'> | undefined {
  const [address = ''] = text.split('%');
  const version = isIP(address);
  if (version === 0) return undefined;
  if (version === 4) return { address, family: 'ipv4' };
  // The one spelling of the operating system, in which mapped addresses end with the IPv4 address.
  const spelt = new SocketAddress({ address, family: 'ipv6' }).address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(spelt)?.[1];
  return mapped === undefined ? { address: spelt, family: 'ipv6' } : { address: mapped, family: 'ipv4' };
}
