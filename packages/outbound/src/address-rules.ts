import { isIP } from 'node:net';
import { type AddressRange, addressMatcher, parseAddressRange } from './address-range.ts';

/**
 * Addresses that no customer's server has on the Internet: those of this machine, of private networks and of cloud
 * metadata, and those that contain an IPv4 address or are not assigned. The network policies of deploy/k8s are made from it.
 *
 * Source: docs/reference/guarantees.md, Outbound requests.
 */
export const specialPurpose: readonly AddressRange[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // The address at which Azure's hosts serve their virtual machines, keys included; not a registered range.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // All but 2000::/3: loopback, IPv4-compatible, NAT64, discard-only, local and multicast addresses, and unassigned ones.
  '::/3',
  '4000::/2',
  '8000::/1',
  // Teredo, benchmarks, ORCHID.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
].flatMap((range) => parseAddressRange(range) ?? []);

const isSpecialPurpose = addressMatcher(specialPurpose);

/** Why an address may not be dialled. */
export type AddressRefusal = 'SPECIAL_ADDRESS' | 'NOT_HTTPS';

/** The rules that decide which addresses may be dialled. */
export interface AddressRules {
  /** Why an address may not be dialled by a protocol; undefined if it may be. Any other text may not be. */
  findRefusal(address: string, protocol: string): AddressRefusal | undefined;
  /** Whether a host whose addresses are not known yet can have one that may be dialled by a protocol. */
  mayAccept(protocol: string): boolean;
}

/** The options of a guard that decide about addresses. */
export interface AddressOptions {
  /** Special-purpose addresses that may be dialled nevertheless; all addresses in these ranges also by plain HTTP. */
  allow: readonly AddressRange[];
  /** Whether other addresses are dialled by https only. */
  requireHttps: boolean;
}

/** Makes the rules: special-purpose addresses and plain HTTP only where the configuration allows them. */
export function addressRules({ allow, requireHttps }: AddressOptions): AddressRules {
  const isAllowed = addressMatcher(allow);
  return {
    findRefusal(address, protocol) {
      if (isAllowed(address)) return undefined;
      if (isIP(address) === 0 || isSpecialPurpose(address)) return 'SPECIAL_ADDRESS';
      return requireHttps && protocol !== 'https:' ? 'NOT_HTTPS' : undefined;
    },
    mayAccept: (protocol) => protocol === 'https:' || !requireHttps || allow.length > 0,
  };
}
