import { type AddressRange, parseAddressRange } from '@ticketing/outbound/address-range.ts';
import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';

/** Reads a list of addresses and ranges in CIDR notation, separated by commas; empty by default. */
export function readAddressRanges(from: ConfigReader, name: string): AddressRange[] {
  const parts = from.optionalText(name)?.split(',') ?? [];
  return parts.flatMap((part) => {
    const range = parseAddressRange(part.trim());
    if (range === undefined) {
      from.refuse(`${name} must be like 10.1.0.0/16,fd00::/8,127.0.0.1; not "${part.trim()}"`);
    }
    return range ?? [];
  });
}
