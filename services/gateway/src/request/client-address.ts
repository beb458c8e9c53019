import { isIP } from 'node:net';
import { type AddressRange, addressMatcher } from '@ticketing/outbound/address-range.ts';
import type { FastifyRequest } from 'fastify';

/** Returns the address of the client of a request; undefined if it has disconnected. */
export type ClientAddress = (request: Pick<FastifyRequest, 'ip' | 'headers'>) => string | undefined;

/**
 * Makes the function that finds the address of a client, also behind trusted proxies. Each proxy appends the address of
 * its peer to `X-Forwarded-For`, so the last address there that is not a trusted proxy is the client. The entries
 * before it come from the client and are not read. If the peer is not trusted, or has sent something else than an
 * address, the address of the peer counts.
 *
 * Fastify's `trustProxy` is not used because it also believes `X-Forwarded-Host` and `X-Forwarded-Proto`, and returns
 * values that are not addresses.
 * Source: docs/services/gateway.md, Behind a load balancer.
 */
export function clientAddress(trustedProxies: readonly AddressRange[]): ClientAddress {
  const isTrusted = addressMatcher(trustedProxies);
  return ({ ip: peer, headers }) => {
    const forwarded = headers['x-forwarded-for'];
    // After a disconnect the peer has no address, against the type of Fastify.
    if (forwarded === undefined || !isTrusted(peer ?? '')) return peer;
    const addresses = String(forwarded)
      .split(',')
      .map((address) => address.trim());
    const client = addresses.findLast((address) => !isTrusted(address)) ?? addresses[0] ?? '';
    return isIP(client) === 0 ? peer : client;
  };
}
