import type { AddressRange } from '@ticketing/outbound/address-range.ts';
import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';
import { readAddressRanges } from '@ticketing/service-kit/config/address-ranges.ts';
import { upstreams } from './request/upstreams.ts';

/** The configuration that only the gateway has. */
export interface GatewayConfig {
  /** The base URL of each service's REST API, by the name of the service. */
  upstreamUrls: ReadonlyMap<string, string>;
  sessionCookie: string;
  /** Scheme and host as browsers see them. Undefined: the host in the `Host` header of the request. */
  publicOrigin: string | undefined;
  /** The proxies whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly AddressRange[];
  /** How long a request may take until its response begins, in ms. */
  deadlineMs: number;
}

/** Reads the environment variables that only the gateway has. */
export function readGatewayConfig(from: ConfigReader): GatewayConfig {
  // With `TLS_CA_FILE` the services use TLS; a plain URL would send tokens in the clear.
  const protocols = from.optionalText('TLS_CA_FILE') === undefined ? ['http:', 'https:'] : ['https:'];
  return {
    upstreamUrls: new Map(
      upstreams.map(({ name }) => [name, readOrigin(from, `${name.toUpperCase()}_URL`, protocols)]),
    ),
    sessionCookie: from.text('SESSION_COOKIE', {
      default: '__Host-ticketing_session',
      pattern: /^[\w-]{1,64}$/,
      meaning: 'a name of letters, digits, _ and -',
    }),
    publicOrigin: from.optionalText('PUBLIC_ORIGIN', {
      pattern: /^https?:\/\/[^\s/?#@]+$/,
      meaning: 'a scheme and host without a path, such as https://tickets.example.com',
    }),
    trustedProxies: readAddressRanges(from, 'TRUSTED_PROXIES'),
    deadlineMs: from.integer('DEADLINE_MS', { default: 30_000, min: 100, max: 300_000 }),
  };
}

function readOrigin(from: ConfigReader, name: string, protocols: readonly string[]): string {
  const url = from.url(name, protocols);
  if (URL.canParse(url) && new URL(url).href !== `${new URL(url).origin}/`) {
    from.refuse(`${name} must have no path, query or credentials`);
  }
  return url;
}
