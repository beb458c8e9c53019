import type { AddressOptions } from '@ticketing/outbound/address-rules.ts';
import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';
import { readAddressRanges } from './address-ranges.ts';

/** Which addresses a service may dial, of those that clients configure or send. */
export type OutboundConfig = AddressOptions;

/**
 * Reads `OUTBOUND_ALLOW`, for example `10.1.0.0/16,fd00::/8,127.0.0.1`, and `OUTBOUND_REQUIRE_HTTPS`.
 *
 * Source: docs/reference/guarantees.md, Outbound requests.
 */
export function readOutboundConfig(from: ConfigReader): OutboundConfig {
  return {
    allow: readAddressRanges(from, 'OUTBOUND_ALLOW'),
    requireHttps: from.flag('OUTBOUND_REQUIRE_HTTPS', true),
  };
}
