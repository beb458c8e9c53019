import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressRules } from './address-rules.ts';
import { OutboundError } from './outbound-error.ts';
import type { ResolveHost } from './resolve-host.ts';

/** The dependencies of a connector. */
export interface ConnectorOptions {
  rules: AddressRules;
  resolve: ResolveHost;
  /** Authorities to trust instead of those of Node, in PEM. */
  ca: string | undefined;
}

/**
 * Opens connections to addresses that the rules accept. The addresses of a name are resolved once, and exactly these
 * are dialled, so that a name server cannot give other ones in between. If one of them is refused, none is dialled.
 *
 * Errors: address_refused, resolve_failed, connect_failed, tls_failed, timeout.
 * Source: docs/reference/guarantees.md, Outbound requests.
 */
export function guardedConnector({ rules, resolve, ca }: ConnectorOptions): buildConnector.connector {
  const connectorFor = (protocol: string) => {
    const lookup: LookupFunction = (name, _options, callback) => {
      resolveAccepted(name, protocol, rules, resolve).then(
        (addresses) => callback(null, addresses),
        (error: Error) => callback(error, []),
      );
    };
    return buildConnector({
      lookup,
      allowH2: false,
      timeout: 10_000,
      // The default of 250 ms is too short for a distant server that has several addresses.
      autoSelectFamilyAttemptTimeout: 1000,
      // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED does not matter.
      rejectUnauthorized: true,
      ...(ca === undefined ? {} : { ca }),
    });
  };
  const secure = connectorFor('https:');
  const plain = connectorFor('http:');
  return (options, callback) => {
    const { hostname, protocol } = options;
    // Node calls `lookup` for names only.
    const refusal = isIP(hostname) === 0 ? undefined : rules.findRefusal(hostname, protocol);
    if (refusal !== undefined) {
      callback(new OutboundError('address_refused', { code: refusal }), null);
      return;
    }
    const connect = protocol === 'https:' ? secure : plain;
    connect(options, (...[error, socket]) => {
      if (error) callback(connectError(error, protocol), null);
      else callback(null, socket);
    });
  };
}

async function resolveAccepted(name: string, protocol: string, rules: AddressRules, resolve: ResolveHost) {
  const addresses = await resolve(name).catch((error: unknown) => {
    throw new OutboundError('resolve_failed', { code: findErrorCode(error) });
  });
  if (addresses.length === 0) throw new OutboundError('resolve_failed', { code: 'ENODATA' });
  for (const address of addresses) {
    const code = rules.findRefusal(address, protocol);
    if (code !== undefined) throw new OutboundError('address_refused', { code });
  }
  return addresses.map((address) => ({ address, family: isIP(address) }));
}

/** Makes the error for a connection that could not be opened. */
function connectError(error: Error, protocol: string): OutboundError {
  if (error instanceof OutboundError) return error;
  // Several addresses were dialled: the first failure is reported for all.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = findErrorCode(first) ?? findErrorCode(error);
  if (code === 'ETIMEDOUT' || findErrorCode(error) === 'UND_ERR_CONNECT_TIMEOUT') {
    return new OutboundError('timeout', { code, address: findErrorAddress(first) });
  }
  // An error of the TCP connection names its system call; after it only the handshake is left.
  const isConnect = first instanceof Error && 'syscall' in first && first.syscall === 'connect';
  const kind = protocol === 'https:' && !isConnect ? 'tls_failed' : 'connect_failed';
  return new OutboundError(kind, { code, address: findErrorAddress(first) });
}

/** Returns the code of an error of Node or undici; only words, so that it cannot contain anything of a request. */
export function findErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^[A-Z\d_]{1,64}$/.test(code) ? code : undefined;
}

function findErrorAddress(error: unknown): string | undefined {
  return error instanceof Error && 'address' in error ? String(error.address) : undefined;
}
