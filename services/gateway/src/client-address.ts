import { isIP } from 'node:net';
import { type AddressRange, matcherOf } from '@ticketing/outbound/address-range.ts';
import type { FastifyRequest } from 'fastify';

/** Returns the address of the client of a request; undefined if it has disconnected. */
export type ClientAddress = (request: Pick<FastifyRequest, 'ip' | 'headers'>) => string | undefined;

/**
 * Makes the function that finds the address of a client, also behind trusted proxies: each proxy appends the address of
 * its peer to `X-Forwarded-For`, so the last address there that is not a trusted proxy is the client. What stands before
 * it is written by the client and is not read. The address of the peer counts if it is not trusted, or has sent something
 * else than an address.
 *
 * Fastify's `trustProxy` is not used because it also believes `X-Forwarded-Host` and `X-Forwarded-Proto`, and returns what
 * is not an address.
 * Source: docs/services/gateway.md, Behind a load balancer.
 */
export function clientAddress(trustedProxies: readonly AddressRange[]): ClientAddress {
  const isTrusted = matcherOf(trustedProxies);
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
