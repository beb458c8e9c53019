/**
 * Why a request has no response that can be used:
 *
 * - `request_refused`: its URL is not accepted, or a header cannot be sent. Nothing was dialled.
 * - `address_refused`: the host has an address that may not be dialled.
 * - `resolve_failed`: the host has no address, or its name servers do not respond.
 * - `connect_failed`: no connection could be opened.
 * - `tls_failed`: the server does not speak TLS, or its certificate is not trusted or is for another name.
 * - `timeout`: the deadline has passed.
 * - `response_too_large`: the response is larger than the limit.
 * - `redirect_refused`: there were too many redirects, or one that names no URL.
 * - `protocol_error`: the connection ended too early, or the response is not valid HTTP.
 */
export type OutboundErrorKind =
  | 'request_refused'
  | 'address_refused'
  | 'resolve_failed'
  | 'connect_failed'
  | 'tls_failed'
  | 'timeout'
  | 'response_too_large'
  | 'redirect_refused'
  | 'protocol_error';

/** The facts about a failed request, as far as they are known. */
export interface OutboundErrorFacts {
  /** The code of the error of the operating system, of Node or of the HTTP client, for example `ECONNREFUSED`. */
  code?: string | undefined;
  /** The address that was dialled last. */
  address?: string | undefined;
  /** The status of the response that had begun. */
  status?: number | undefined;
  durationMs?: number;
}

/**
 * A request that failed. It can be logged and shown: it contains nothing of the URL, of headers or of bodies, and no error
 * that does.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly kind: OutboundErrorKind;
  readonly code: string | undefined;
  readonly address: string | undefined;
  readonly status: number | undefined;
  /** From the call to the failure, in ms. */
  readonly durationMs: number;

  constructor(kind: OutboundErrorKind, { code, address, status, durationMs = 0 }: OutboundErrorFacts = {}) {
    super(code === undefined ? kind : `${kind} (${code})`);
    this.kind = kind;
    this.code = code;
    this.address = address;
    this.status = status;
    this.durationMs = durationMs;
  }
}
